/// The limits that a server sets for its clients.
public struct ServerLimits: Sendable, Hashable {
    /// Connections at once; more have to wait to be accepted.
    public var maxConnections = 4096
    /// How long a TLS handshake may take, and a request's header and body together.
    public var requestTimeout: Duration = .seconds(10)
    /// How long a connection may be silent between two requests.
    public var idleTimeout: Duration = .seconds(60)
    /// How long the peer may take to read 64 KiB of a response, or what is left of it.
    public var answerTimeout: Duration = .seconds(30)
    /// The largest request target in bytes.
    public var maxTarget = 8 * 1024
    /// The largest header in bytes, over all its field lines.
    public var maxHeader = 32 * 1024
    /// The largest number of field lines.
    public var maxFields = 100

    public init() {}
}

/// The limits that are times, in the unit of the loops' clock.
struct ServerTimes {
    let request: Milliseconds
    let idle: Milliseconds
    let answer: Milliseconds

    init(_ limits: ServerLimits) {
        request = limits.requestTimeout.milliseconds
        idle = limits.idleTimeout.milliseconds
        answer = limits.answerTimeout.milliseconds
    }
}
