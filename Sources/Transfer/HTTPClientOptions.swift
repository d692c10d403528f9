public import Values

/// What holds for all requests of a client.
public struct HTTPClientOptions: Sendable {
    /// Whether an address may be connected to, asked when the connection is made.
    public let mayConnect: @Sendable (IPAddress) -> Bool
    /// Whether a connection serves the next request to the same address. Nobody is asked about it then.
    public let keepsConnections: Bool
    /// Requests beyond it wait, and their time runs. Nil: any number.
    public let mostConnectionsToHost: Int?

    public init(
        keepsConnections: Bool = false, mostConnectionsToHost: Int? = nil,
        mayConnect: @escaping @Sendable (IPAddress) -> Bool
    ) {
        self.keepsConnections = keepsConnections
        self.mostConnectionsToHost = mostConnectionsToHost
        self.mayConnect = mayConnect
    }
}
