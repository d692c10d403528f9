import HTTP

/// A protocol on one connection: bytes in, requests out, responses in, bytes out. It does no I/O and has no callbacks.
protocol ConnectionSession: AnyObject {
    /// Takes all of `bytes`.
    func receive(_ bytes: Span<UInt8>, now: Milliseconds)
    /// The peer will send nothing more.
    func receiveEnd(now: Milliseconds)
    /// A request that can start now: it is complete, or its body has a fault.
    func nextRequest(now: Milliseconds) -> StartedRequest?

    /// Takes the response to a request of `nextRequest`, once for each. Parts of a streamed body follow.
    func answer(_ response: Response, to stream: Int32, now: Milliseconds)
    /// Takes a part of a streamed body. False when the next one must wait until `nextRoom` names the stream.
    func send(_ part: [UInt8], on stream: Int32) -> Bool
    /// Ends a streamed body; `failed` when it broke off.
    func finish(_ stream: Int32, failed: Bool)
    /// Whether a streamed body is still wanted.
    func isOpen(_ stream: Int32) -> Bool
    /// A stream that has room again since `send` returned false.
    func nextRoom() -> Int32?

    /// Appends what must be sent now, about 64 KiB at most.
    func produce(into output: inout [UInt8], now: Milliseconds)
    var hasOutput: Bool { get }
    /// Bytes of responses that are not yet produced.
    var unsentBytes: Int { get }
    /// Bytes of requests that are not complete, or have not begun.
    var incompleteBytes: Int { get }
    /// Bytes of requests with the handler.
    var bytesAtWork: Int { get }
    /// Whether it takes more bytes now.
    var wantsInput: Bool { get }
    /// Whether it keeps reading while its output waits to be sent.
    var readsWhileSending: Bool { get }
    /// Set when the session is over: what was produced is sent, then the connection is closed.
    var end: SessionEnd? { get }

    /// When to call `expire` because the peer is late.
    var deadline: Milliseconds { get }
    func expire(now: Milliseconds)
    /// Drops every response and ends: the peer reads too slowly.
    func abandon(now: Milliseconds)
    /// Takes nothing new and finishes what is open.
    func drain(now: Milliseconds)
    /// Whether nothing is at work, half received or waiting to be sent.
    var isIdle: Bool { get }
    /// Whether nothing happens until the peer sends something, or reads what waits for it: no request can begin, no
    /// handler is at work.
    var isWaitingForPeer: Bool { get }
    /// Called when the connection is gone, as the last call.
    func close()
}

/// A request for the handler, and the stream that its response goes to.
struct StartedRequest {
    /// 0 in HTTP/1.1.
    let stream: Int32
    let request: Request
}

/// How a session wants its connection closed.
enum SessionEnd {
    /// The last bytes must reach the peer (RFC 9112 §9.6).
    case lingering
    /// At once; unsent bytes are dropped.
    case abrupt
}
