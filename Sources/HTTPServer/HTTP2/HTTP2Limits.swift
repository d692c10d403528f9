/// What one HTTP/2 connection may ask of the server, beyond the limits that both protocols share.
struct HTTP2Limits: Sendable {
    /// Open at once (RFC 9113 §5.1.2).
    var streams = 100
    /// Frames that bring nothing, beyond those that requests and answers explain: how many at once, and a second.
    var idleFrames = (burst: 1_000, rate: 50)
    /// Streams reset, by either side: how many at once, and a second.
    var resets = (burst: 1_000, rate: 33)
    /// Unanswered PINGs and SETTINGS of the peer.
    var unreadAcknowledgements = 100
    /// Bytes of a streamed answer that wait for the peer's window.
    var streamedBytes = 64 * 1024
    /// While more bytes of answers wait for the peer's windows, no request begins: most of a hundred pages fit in.
    var unsentBytes = 1024 * 1024
    /// Bytes of output made at a time.
    var outputBytes = 64 * 1024
}
