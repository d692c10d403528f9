/// What one HTTP/2 connection may ask of the server, in addition to the limits of both protocols.
struct HTTP2Limits: Sendable {
    /// Streams open at once (RFC 9113 §5.1.2).
    var streams = 100
    /// Frames that carry nothing, beyond those that requests and responses explain: how many at once, and per second.
    var idleFrames = (burst: 1_000, rate: 50)
    /// Streams reset by either side: how many at once, and per second.
    var resets = (burst: 1_000, rate: 33)
    /// Unanswered PINGs and SETTINGS of the peer.
    var unreadAcknowledgements = 100
    /// Frames other than DATA that wait to be sent: for each stream a header block, a reset and two window updates, and
    /// the acknowledgements.
    var queuedFrames = 500
    /// Bytes of a streamed response that wait for the peer's window.
    var streamedBytes = 64 * 1024
    /// No request begins while more bytes than this wait for the peer's windows. Most of a hundred pages fit.
    var unsentBytes = 1024 * 1024
    /// Bytes of output made at a time.
    var outputBytes = 64 * 1024
}
