public import JSON
public import Storage
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

extension User {
    package static let columns: SQL.Columns =
        """
        id, email, email_verified, profile, created_at, updated_at, disabled_at, deletion_due_at, attributes, subject, \
        verified_phone
        """

    package init(_ row: Row) throws {
        let profile: String = try row.get("profile")
        self.init(
            id: try row.get("id"), email: try row.get("email"), emailVerified: try row.get("email_verified"),
            profile: try JSON(stored: profile), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"),
            deletionDueAt: try row.get("deletion_due_at"),
            attributes: try JSON(stored: try row.get("attributes")), subject: try row.get("subject"),
            verifiedPhone: try row.get("verified_phone", as: String?.self).flatMap { PhoneNumber($0) })
    }

    /// The `sub` of the user for clients without another one. For a deleted user it is the number.
    package static func sub(of id: UserID, in database: any Database) async throws -> String {
        let rows = try await database.rows("SELECT subject FROM users WHERE id = \(id)")
        return try rows.first?.get("subject", as: String?.self) ?? id.description
    }

    /// The `sub` that an import kept for the user, in the caller's transaction.
    package static func keptSubject(of id: UserID, in db: any Transaction) throws -> String? {
        try db.rows("SELECT subject FROM users WHERE id = \(id)").first?.get("subject")
    }

    /// The user whose `sub` an import kept, and who still has it.
    package static func id(ofSubject subject: String, in db: any Transaction) throws -> UserID? {
        try db.rows("SELECT id FROM users WHERE subject = \(subject)").first?.get("id")
    }

    /// The user with this id, in an open transaction.
    public static func find(_ id: UserID, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(columns) FROM users WHERE id = \(id)").first.map(User.init)
    }
}

/// The verified phone number, each time in the caller's transaction.
extension User {
    /// The user who has proved to read text messages to `phone`.
    package static func find(_ phone: PhoneNumber, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(columns) FROM users WHERE verified_phone = \(phone)").first.map(User.init)
    }

    /// Makes `phone` the user's verified number, and the one of the profile. Throws `StorageError.conflict` when
    /// another user has it. False when there is no such user, or when the user's address is not verified, so that their
    /// identity is unproved.
    package static func verify(
        _ phone: PhoneNumber, of id: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        guard let user = try find(id, in: db), user.emailVerified, user.disabledAt == nil, user.deletionDueAt == nil
        else { return false }
        let others = (user.profile.members ?? []).filter { $0.name != phoneNumber }
        let profile = JSON.object(others + [.init(phoneNumber, .string(phone.text))])
        return try db.execute(
            """
            UPDATE users SET verified_phone = \(phone), phone_verified_at = \(now), profile = \(profile.text),
                updated_at = \(now)
            WHERE id = \(id)
            """) == 1
    }

    /// Removes the verification. The profile keeps its number.
    package static func forgetPhone(of id: UserID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE users SET verified_phone = NULL, phone_verified_at = NULL, updated_at = \(now)
            WHERE id = \(id) AND verified_phone IS NOT NULL
            """)
    }
}

extension User {
    /// Stores users that conflict with none of `holders`, in the caller's transaction. It is one statement, because the
    /// database may be across a network.
    package static func insert(
        _ users: [(user: User, passwordHash: String?)], in db: any Transaction
    ) throws {
        guard !users.isEmpty else { return }
        var sql = SQL.StringInterpolation(literalCapacity: users.count * 40, interpolationCount: users.count * 8)
        sql.appendLiteral(
            """
            INSERT INTO users (id, email, email_verified, password_hash, profile, created_at, updated_at,
                disabled_at, subject, search_name)
            VALUES
            """)
        for (index, (user, passwordHash)) in users.enumerated() {
            sql.appendLiteral(index == 0 ? " (" : ", (")
            sql.appendInterpolation(user.id)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.email)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.emailVerified)
            sql.appendLiteral(", ")
            sql.appendInterpolation(passwordHash)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.profile.text)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.createdAt)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.updatedAt)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.disabledAt)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.subject)
            sql.appendLiteral(", ")
            sql.appendInterpolation(SearchName(of: user.profile))
            sql.appendLiteral(")")
        }
        try db.execute(SQL(stringInterpolation: sql))
    }

    /// The unique values of a stored user.
    package struct Holder: Sendable {
        package let id: UserID
        package let email: String?
        package let subject: String?
        package let updatedAt: Timestamp
    }

    /// The users who have the address, the number or the `sub` of one of `users`.
    package static func holders(of users: [User], in db: any Transaction) throws -> [Holder] {
        guard !users.isEmpty else { return [] }
        let columns: SQL.Columns = "id, email, subject, updated_at"
        var rows = try db.rows("SELECT \(columns) FROM users WHERE email IN (\(list: users.compactMap(\.email)))")
        rows += try db.rows("SELECT \(columns) FROM users WHERE id IN (\(list: users.map(\.id)))")
        let subjects = users.compactMap(\.subject)
        if !subjects.isEmpty {
            rows += try db.rows("SELECT \(columns) FROM users WHERE subject IN (\(list: subjects))")
        }
        return try rows.map { row in
            Holder(
                id: try row.get("id"), email: try row.get("email"), subject: try row.get("subject"),
                updatedAt: try row.get("updated_at"))
        }
    }
}

extension User {
    static let export: [StoredTable.Export] = [
        .member("account") { id, db in
            guard let user = try find(id, in: db) else { return .object([]) }
            let phoneVerifiedAt = try db.rows("SELECT phone_verified_at FROM users WHERE id = \(id)").first?
                .get("phone_verified_at", as: Timestamp?.self)
            let hasPassword = try !db.rows(
                "SELECT id FROM users WHERE id = \(id) AND password_hash IS NOT NULL"
            ).isEmpty
            return .members([
                "user_id": .string(id.description), "sub": user.subject.map { .string($0) },
                "email": user.email.map { .string($0) },
                "email_verified": .bool(user.emailVerified), "has_password": .bool(hasPassword),
                "verified_phone_number": user.verifiedPhone.map { .string($0.text) },
                "phone_number_verified_at": phoneVerifiedAt.map { .string($0.iso8601) },
                "created_at": .string(user.createdAt.iso8601), "updated_at": .string(user.updatedAt.iso8601),
                "disabled_at": user.disabledAt.map { .string($0.iso8601) },
                "deletion_due_at": user.deletionDueAt.map { .string($0.iso8601) },
            ])
        },
        .member("profile") { id, db in try find(id, in: db)?.profile ?? .object([]) },
        .member("attributes") { id, db in try find(id, in: db)?.attributes ?? .object([]) },
    ]
}
