public import Directory
public import Values

/// The scope that a user allowed a client, until revoked.
public struct Consent: Sendable, Equatable {
    public let scope: Scope
    public let createdAt: Timestamp
    public let updatedAt: Timestamp
}
