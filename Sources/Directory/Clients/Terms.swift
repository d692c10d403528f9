public import Values

/// The terms that users accept. New terms have a new URL.
public struct Terms: Sendable, Equatable {
    /// Nil for the terms of the platform.
    public let client: Client.ID?
    public let uri: String
    /// When the URL last changed; nil for the terms of the platform.
    public let changedAt: Timestamp?

    package init(client: Client.ID?, uri: String, changedAt: Timestamp?) {
        self.client = client
        self.uri = uri
        self.changedAt = changedAt
    }
}

extension Client {
    /// The terms that its users accept.
    public var terms: Terms? { termsURI.map { Terms(client: id, uri: $0, changedAt: termsChangedAt) } }
}
