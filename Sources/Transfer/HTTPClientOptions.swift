public import Values

/// The settings of a client for all its requests.
public struct HTTPClientOptions: Sendable {
    /// Whether the client may connect to an address; asked when a connection is made.
    public let mayConnect: @Sendable (IPAddress) -> Bool
    /// Whether a connection serves the next request to the same address. `mayConnect` is not asked again then.
    public let keepsConnections: Bool
    /// Further requests wait, within their time limit. Nil means no limit.
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
