public import Values

/// What people agree to: whose it is, and where it is to be read. New terms are a new address.
public struct Terms: Sendable, Equatable {
    /// Nil for those of the platform.
    public let client: Client.ID?
    public let uri: String
    /// Since when they are there; nil when nobody noted it.
    public let changedAt: Timestamp?

    package init(client: Client.ID?, uri: String, changedAt: Timestamp?) {
        self.client = client
        self.uri = uri
        self.changedAt = changedAt
    }
}

extension Client {
    /// What its people agree to.
    public var terms: Terms? { termsURI.map { Terms(client: id, uri: $0, changedAt: termsChangedAt) } }
}
