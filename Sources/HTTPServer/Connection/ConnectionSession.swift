import HTTP

/// A protocol spoken on one connection: bytes in, requests out, answers in, bytes out. It does no I/O and calls nobody back.
protocol ConnectionSession: AnyObject {
    /// Takes all of `bytes`.
    func receive(_ bytes: Span<UInt8>, now: Milliseconds)
    /// The peer will send nothing more.
    func receiveEnd(now: Milliseconds)
    /// A request that is whole, or whose body is a fault, and may be started now.
    func nextRequest(now: Milliseconds) -> StartedRequest?

    /// The answer to a request of `nextRequest`, once for each. Parts of a streamed body follow.
    func answer(_ response: Response, to stream: Int32, now: Milliseconds)
    /// Takes a part of a streamed body. False when the next one is to wait until `nextRoom` names the stream.
    func send(_ part: [UInt8], on stream: Int32) -> Bool
    /// A streamed body is over; `failed` when it broke off.
    func finish(_ stream: Int32, failed: Bool)
    /// Whether a streamed body is still wanted.
    func isOpen(_ stream: Int32) -> Bool
    /// A stream that has room again since `send` said no.
    func nextRoom() -> Int32?

    /// Appends what is to be sent now, about 64 KiB at most.
    func produce(into output: inout [UInt8], now: Milliseconds)
    var hasOutput: Bool { get }
    /// Bytes of answers that were made and not yet produced.
    var unsentBytes: Int { get }
    /// Whether more bytes are wanted now.
    var wantsInput: Bool { get }
    /// Whether it reads on while its output waits to be sent.
    var readsWhileSending: Bool { get }
    /// Set when all is said: what was produced is sent, then the connection is closed.
    var end: SessionEnd? { get }

    /// When `expire` is to be called, of what the peer owes us.
    var deadline: Milliseconds { get }
    func expire(now: Milliseconds)
    /// Drops every answer and ends: the peer reads too few of them.
    func abandon(now: Milliseconds)
    /// Takes nothing new and finishes what is open.
    func drain(now: Milliseconds)
    /// Nothing is at work, half received or to be sent.
    var isIdle: Bool { get }
    /// The connection is gone; nothing is called after this.
    func close()
}

/// A request for the handler, and where its answer goes.
struct StartedRequest {
    /// 0 in HTTP/1.1.
    let stream: Int32
    let request: Request
}

/// How a session wants its connection closed.
enum SessionEnd {
    /// What it said last must reach the peer (RFC 9112 §9.6).
    case lingering
    /// At once; what was not sent is dropped.
    case abrupt
}
