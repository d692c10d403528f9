public import Directory
public import Values

/// What a person allowed a client that asks, until revoked.
public struct Consent: Sendable, Equatable {
    public let scope: Scope
    public let createdAt: Timestamp
    public let updatedAt: Timestamp
}
