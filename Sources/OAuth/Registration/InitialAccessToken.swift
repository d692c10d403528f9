public import Directory
public import JSON
public import Values

/// With which clients of a merchant register themselves (RFC 7591 §1.2). It may be used more than once while it lives.
public struct InitialAccessToken: Sendable {
    public typealias ID = Identifier<InitialAccessToken>

    /// How long it lives unless said, and at most.
    public static let usualLife: Duration = .days(1)
    public static let longestLife: Duration = .days(365)
    /// How many clients register with one.
    public static let mostRegistrations = 1000

    public let id: ID
    public let merchant: Merchant.ID
    public let registrations: Int
    public let createdAt: Timestamp
    public let expiresAt: Timestamp

    /// As administration shows it. The token itself is told once.
    public var json: JSON {
        .members([
            "id": .string(id.text), "merchant_id": .string(merchant.text),
            "registrations": .integer(Int64(registrations)), "created_at": .integer(createdAt.seconds),
            "expires_at": .integer(expiresAt.seconds),
        ])
    }
}
