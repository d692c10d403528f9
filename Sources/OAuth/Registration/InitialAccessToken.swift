public import Directory
public import JSON
public import Values

/// A token with which clients of a merchant register themselves (RFC 7591 §1.2). It may be used often while it lives.
public struct InitialAccessToken: Sendable {
    public typealias ID = Identifier<InitialAccessToken>

    /// The default lifetime, and the longest one.
    public static let usualLife: Duration = .days(1)
    public static let longestLife: Duration = .days(365)
    /// How many clients may register with one token: at most, and by default.
    public static let mostRegistrations = 1000

    public let id: ID
    public let merchant: Merchant.ID
    public let registrations: Int
    public let maxRegistrations: Int
    public let createdAt: Timestamp
    public let expiresAt: Timestamp

    /// The JSON for the admin API. The token itself is shown once, when it is issued.
    public var json: JSON {
        .members([
            "id": .string(id.text), "merchant_id": .string(merchant.text),
            "registrations": .integer(Int64(registrations)),
            "max_registrations": .integer(Int64(maxRegistrations)), "created_at": .integer(createdAt.seconds),
            "expires_at": .integer(expiresAt.seconds),
        ])
    }
}
