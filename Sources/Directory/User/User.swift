public import JSON
public import Values

/// A user of the deployment. Merchants' clients are connected to users.
public struct User: Sendable {
    public let id: UserID
    /// The `sub` that clients of another system knew the user by, if an import kept it.
    public let subject: String?
    /// Nil when the user is known only by the subjects of issuers.
    public var email: String?
    public var emailVerified: Bool
    /// Profile claims by their names in OpenID Connect Core §5.1.
    public var profile: JSON
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    public var disabledAt: Timestamp?
    /// When the user will be deleted, if they asked for it and have not cancelled.
    public let deletionDueAt: Timestamp?
    /// What administration stores about the user for clients' claims: texts and lists of texts.
    public var attributes: JSON
    /// The number at which the user has proved to read text messages.
    public var verifiedPhone: PhoneNumber?

    package init(
        id: UserID, email: String?, emailVerified: Bool, profile: JSON, createdAt: Timestamp, updatedAt: Timestamp,
        disabledAt: Timestamp?, deletionDueAt: Timestamp?, attributes: JSON = .object([]), subject: String? = nil,
        verifiedPhone: PhoneNumber? = nil
    ) {
        self.id = id
        self.subject = subject
        self.email = email
        self.emailVerified = emailVerified
        self.profile = profile
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.disabledAt = disabledAt
        self.deletionDueAt = deletionDueAt
        self.attributes = attributes
        self.verifiedPhone = verifiedPhone
    }

    /// The profile claims that a user can have, by the scope that shows them.
    public static let claims: KeyValuePairs<String, [String]> = [
        "profile": [
            "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
            "website", "gender", "birthdate", "zoneinfo", "locale",
        ],
        "address": [PostalAddress.claim],
        "phone": [phoneNumber],
    ]

    package static let phoneNumber = "phone_number"
    /// Shown beside every phone number.
    public static let phoneVerified = "phone_number_verified"

    /// Whether the phone number of the profile is the verified one, as E.164 writes it (OpenID Connect Core §5.1).
    public var isPhoneVerified: Bool {
        guard let verifiedPhone, let claim = profile[Self.phoneNumber]?.string else { return false }
        return claim == verifiedPhone.text
    }

    /// In bytes of UTF-8.
    public static let longestClaim = 500

    /// Whether `text` is allowed as `claim`. Clients make links of three claims (OpenID Connect Core §5.1), which must
    /// not run as a script. A text without a scheme is allowed: many users write the names of their sites without one.
    public static func mayHold(_ text: String, as claim: String) -> Bool {
        guard ["profile", "picture", "website"].contains(claim) else { return true }
        let beginning = text.prefix { !"/?#\\".contains($0) }
        guard let colon = beginning.firstIndex(of: ":") else { return true }
        return ["http", "https"].contains(beginning[..<colon].lowercased())
    }

    /// The subject identifier of the user for clients that have no other (OpenID Connect Core §8).
    public var sub: String { subject ?? id.description }

    /// The UUID by which SPiD's API also names the user: the one that an import kept, if any.
    public var uuid: String { UserUUID.text(of: id, keeping: subject) }

    /// The user as `/me` and `/user/{id}` show it: the claims that `scope` covers. A client with pairwise identifiers
    /// sees `pairwise` as the only id, and `updated_at` only where `profile` covers it.
    public func json(pairwise: String? = nil, scope covers: (String) -> Bool) -> JSON {
        var members: [JSON.Member] = [
            .init("user_id", .string(pairwise ?? id.description)), .init("sub", .string(pairwise ?? sub)),
        ]
        if pairwise == nil || covers("profile") { members.append(.init("updated_at", .integer(updatedAt.seconds))) }
        if covers("email"), let email {
            members.append(.init("email", .string(email)))
            members.append(.init("email_verified", .bool(emailVerified)))
        }
        for (scope, claims) in Self.claims where covers(scope) {
            members += claims.compactMap { claim in profile[claim].map { .init(claim, $0) } }
        }
        if covers("phone"), profile[Self.phoneNumber] != nil {
            members.append(.init(Self.phoneVerified, .bool(isPhoneVerified)))
        }
        return .object(members)
    }

    /// The user as administration shows it.
    public var adminJSON: JSON {
        guard case .object(var members) = json(scope: { _ in true }) else { return .null }
        members.append(.init("attributes", attributes))
        members.append(.init("created_at", .integer(createdAt.seconds)))
        members.append(.init("disabled", .bool(disabledAt != nil)))
        if let deletionDueAt { members.append(.init("deletion_due_at", .integer(deletionDueAt.seconds))) }
        return .object(members)
    }
}
