public import Cryptography
public import Directory
import JSON
public import Storage
public import Values

/// The verifications of this server.
public struct Verifications: Sendable {
    let database: any Database
    let clock: any WallClock
    let random: any RandomSource
    let codeKey: [UInt8]

    /// - Parameter codeKey: the key under which codes are stored. Without it, a reader of the table could try all
    ///   million codes.
    public init(database: any Database, clock: any WallClock, random: any RandomSource, codeKey: [UInt8]) {
        self.database = database
        self.clock = clock
        self.random = random
        self.codeKey = codeKey
    }

    /// A verification that is not stored yet, with the secrets to send.
    public struct Draft: Sendable {
        public let verification: Verification
        public let code: String?
        public let link: Secret<Verification>?
        fileprivate let codeMark: String?

        /// The same draft without its secrets, so that it cannot be redeemed.
        public var blank: Draft { Draft(verification: verification, code: nil, link: nil, codeMark: nil) }
    }

    public func draft(
        _ purpose: Verification.Purpose, id: Verification.ID? = nil, email: String = "", phone: PhoneNumber? = nil,
        user: UserID? = nil, browser: Fingerprint<Browser>?, continueTo: String = "",
        newcomer: Verification.Newcomer? = nil,
        method: SignIn.Method? = nil, issuer: String? = nil
    ) -> Draft {
        let now = clock.now
        let verification = Verification(
            id: id ?? .random(from: random), purpose: purpose, user: user, email: email, phone: phone, browser: browser,
            continueTo: continueTo, newcomer: newcomer, method: method, issuer: issuer, createdAt: now,
            expiresAt: now + purpose.lifetime, wasTaken: false)
        let code = purpose.codeLifetime.map { _ in OneTimeCode.random(from: random) }
        let link = purpose.linkLifetime.map { _ in Secret<Verification>.random(from: random) }
        return Draft(
            verification: verification, code: code, link: link,
            codeMark: code.map { mark(of: $0, for: verification.id) })
    }

    /// Stores a draft in the caller's transaction.
    public static func store(_ draft: Draft, in db: any Transaction) throws {
        let verification = draft.verification
        try db.execute(
            """
            INSERT INTO verifications (id, purpose, user_id, email, phone, link, code, browser, password_hash, profile,
                agreed, method, issuer_id, continue_to, tries, created_at, expires_at)
            VALUES (\(verification.id), \(verification.purpose.rawValue), \(verification.user),
                \(verification.email), \(verification.phone), \(draft.link?.fingerprint), \(draft.codeMark),
                \(verification.browser),
                \(verification.newcomer?.passwordHash), \(verification.newcomer?.profile ?? "{}"),
                \(verification.newcomer?.agreed ?? ""), \(verification.method?.rawValue), \(verification.issuer),
                \(verification.continueTo),
                \(0), \(verification.createdAt), \(verification.expiresAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// Replaces every stored code when the master key changes, and the key of codes with it: no code could be verified
    /// any more.
    static let codeOfOldKey = ""

    /// The stored form of `code`.
    func mark(of code: String, for id: Verification.ID) -> String {
        Base64URL.encode(Digest.hmacSHA256(Array("\(id)|\(code)".utf8), key: codeKey))
    }
}

extension Verifications {
    /// Queues a verification's mail in the caller's transaction. If no mail may be sent, queues a blank delivery that
    /// looks the same and is never sent.
    public typealias Post = @Sendable (_ heldBack: HeldBack?, any Transaction) throws -> Void

    /// Why a mail or text message is not sent, which the requester must not learn. Its raw value is the reason in the
    /// log.
    public enum HeldBack: String, Sendable {
        case noUser = "no_user"
        /// Its recipient got many in a short time.
        case throttled = "mailbox_throttled"
    }

    /// The outcome of asking for a mail.
    public enum Asked: Sendable {
        /// The answer is the same whether or not a mail was sent.
        case answered
        /// Too many mails or text messages were asked for, from this address or by this user.
        case wait(Duration)
    }

    /// Stores `draft` and queues its mail, or its text message, in one transaction. If the address has no user, or the
    /// mailbox had too many mails, the same rows are written but are useless: neither the response nor its timing
    /// reveals whether a user exists.
    ///
    /// - Parameters:
    ///   - address: the requester's IP address, to be charged; nil when it was charged before (`charge`).
    ///   - device: what the requester's browser is recognized by; one that the user is known in has mails of its own.
    ///   - backend: the client that has proved itself; the backends of a merchant that its reader uses have their own.
    ///   - authority: who asks; nil for a stranger, who always may.
    public func ask(
        _ draft: Draft, from address: String?, device: Secret<Device>? = nil, backend: Client? = nil,
        hasReader: Bool = true, by authority: (any Authority)? = nil, post: @escaping Post
    ) async throws -> Asked {
        let now = clock.now
        let verification = draft.verification
        let place = address.map { KnownDevices.Place(address: $0, device: device) }
        let work: @Sendable (any Transaction) throws -> Asked = { db in
            try authority?.confirm(in: db)
            if let wait = try Throttle.chargeAsking(of: verification, from: address, at: now, in: db) {
                return .wait(wait)
            }
            let fits = try Throttle.chargeRecipient(of: verification, at: place, by: backend, now, in: db)
            let heldBack: HeldBack? = !hasReader ? .noUser : fits ? nil : .throttled
            try Self.store(heldBack == nil ? draft : draft.blank, in: db)
            try post(heldBack, db)
            return .answered
        }
        // Anyone may ask at any rate, and must not delay what ends the user's access. Whether the user may sign in and
        // has the address is checked again when the secret is taken.
        return authority == nil ? try await database.guardedWrite(work) : try await database.write(work)
    }

    /// Charges one mail that `address` asks for, before any work is done. Returns how long to wait if it has asked for
    /// too many.
    func charge(from address: String) async throws -> Duration? {
        let now = clock.now
        return try await database.write { db in try Throttle.chargeAsking(from: address, at: now, in: db) }
    }

    /// Refunds that charge: no work was done.
    func refund(to address: String) async throws {
        try await database.write { db in try Throttle.refundAsking(from: address, in: db) }
    }
}

/// Takes returned secrets. Each is taken once: the number of changed rows decides. `attempt` is the id of a
/// `VerificationAttempt`, or one that the caller made. A secret taken by the same attempt is given out again, and
/// marked (`Verification.wasTaken`): a browser sent its form twice, or a COMMIT of unknown outcome runs again. What
/// follows from it exists then.
extension Verifications {
    /// Takes the verification whose code was typed in the browser that asked. A try is charged before the code is
    /// compared, so that parallel tries gain nothing. This holds for a taken code too, which stays secret.
    public func take(
        code: String, id: Verification.ID, purpose: Verification.Purpose, browser: Fingerprint<Browser>?,
        attempt: String, in db: any Transaction
    ) throws -> Result<Verification, Verification.Refusal> {
        guard let found = try Self.find(id, purpose, in: db), found.verification.isFrom(browser),
            let lifetime = purpose.codeLifetime
        else { return .failure(.unknown) }
        guard found.verification.createdAt + lifetime > clock.now else { return .failure(.gone(reason: "code_late")) }
        guard !found.isOfOldKey else { return .failure(.gone(reason: "code_of_old_key")) }
        let charged = try db.execute(
            """
            UPDATE verifications SET tries = tries + 1
            WHERE id = \(id) AND (spent_at IS NULL OR spent_by = \(attempt)) AND tries < \(Verification.mostTries)
            """)
        guard charged == 1 else { return .failure(.gone(reason: "code_spent_or_tried_too_often")) }
        guard let mark = found.code,
            constantTimeEqual(mark.utf8, self.mark(of: OneTimeCode.digits(of: code), for: id).utf8)
        else { return .failure(.wrongCode(triesLeft: Int(Verification.mostTries - found.tries - 1))) }
        // The right code costs no try: it may be sent again.
        try db.execute("UPDATE verifications SET tries = tries - 1 WHERE id = \(id)")
        return try spend(found.verification, attempt, in: db)
    }

    /// Charges a try. Returns whether one was left.
    static func charge(_ id: Verification.ID, in db: any Transaction) throws -> Bool {
        try db.execute(
            "UPDATE verifications SET tries = tries + 1 WHERE id = \(id) AND tries < \(Verification.mostTries)") == 1
    }

    /// The verification whose code can still be typed, for the browser that asked. A blank one looks the same.
    public func awaiting(
        _ id: Verification.ID, _ purpose: Verification.Purpose, in browser: Fingerprint<Browser>?
    ) async throws -> Verification? {
        let found = try await database.read { db in try Self.find(id, purpose, in: db) }
        guard let found, !found.isSpent, !found.isOfOldKey, found.tries < Verification.mostTries,
            found.verification.isFrom(browser), let lifetime = purpose.codeLifetime,
            found.verification.createdAt + lifetime > clock.now
        else { return nil }
        return found.verification
    }

    /// The live verification of a link, or the one that `attempt` has taken. Looking changes nothing, because mail
    /// programs follow links too.
    public func look(
        at link: Secret<Verification>, _ purpose: Verification.Purpose, by attempt: VerificationAttempt? = nil
    ) async throws -> Result<Verification, Verification.Refusal> {
        try await database.read { db in try find(link, purpose, attempt: attempt?.id, in: db) }
    }

    /// Takes the verification of a link.
    public func take(
        link: Secret<Verification>, _ purpose: Verification.Purpose, attempt: String, in db: any Transaction
    ) throws -> Result<Verification, Verification.Refusal> {
        switch try find(link, purpose, attempt: attempt, in: db) {
        case .failure(let refusal): .failure(refusal)
        case .success(let verification): try spend(verification, attempt, in: db)
        }
    }

    /// Takes the code of a sign-in, by mail or by text message, that was typed at `place`. At a known device or address
    /// wrong codes do not count, nor do those typed elsewhere. But a `client` that authenticated may forward codes of
    /// any user (`Intermediary`): those count together.
    func takeSignIn(
        _ key: VerificationKey, _ purpose: Verification.Purpose = .signIn, at place: KnownDevices.Place,
        by client: Client? = nil, attempt: String, in db: any Transaction
    ) throws -> Result<Verification, Verification.Refusal> {
        let found: Verification? =
            if case .code(_, let id, _) = key { try Self.find(id, purpose, in: db)?.verification } else { nil }
        let isKnown = try found.map { try KnownDevices.knows(place, ofReaderOf: $0, in: db) } ?? false
        let intermediary = client.flatMap(Intermediary.init)
        return try takeCounted(
            key, purpose, at: isKnown ? intermediary : nil, attempt: attempt, in: db
        ) { _ in !isKnown || intermediary != nil }
    }

    /// Takes the verification that `key` opens. Where `counts` says so, wrong codes count for the recipient as a whole:
    /// otherwise each browser, or each user who moves to one address, would have five guesses. A code that another user
    /// than `user` asked for is left to that user.
    func takeCounted(
        _ key: VerificationKey, _ purpose: Verification.Purpose, by user: UserID? = nil,
        at intermediary: Intermediary? = nil, attempt: String, in db: any Transaction,
        where counts: (Verification) throws -> Bool = { _ in true }
    ) throws -> Result<Verification, Verification.Refusal> {
        guard case .code(_, let id, let browser) = key, let found = try Self.find(id, purpose, in: db)?.verification,
            found.isFrom(browser), try counts(found)
        else { return try take(key, purpose, attempt: attempt, in: db) }
        guard user == nil || found.user == user else { return .failure(.gone(reason: "another_signed_in")) }
        let wait = try Throttle.waitForCode(
            purpose, to: found.recipient, at: intermediary, clock.now, in: db)
        if let wait { return .failure(.tooMany(wait)) }
        let taken = try take(key, purpose, attempt: attempt, in: db)
        if case .failure(.wrongCode) = taken {
            try Throttle.chargeWrongCode(
                purpose, to: found.recipient, at: intermediary, clock.now, in: db)
        }
        return taken
    }

    /// Takes a verification whose only secret is the browser's cookie.
    public func take(
        id: Verification.ID, purpose: Verification.Purpose, browser: Fingerprint<Browser>?, attempt: String,
        in db: any Transaction
    ) throws -> Result<Verification, Verification.Refusal> {
        guard purpose == .restore, let found = try Self.find(id, purpose, in: db),
            found.verification.isFrom(browser)
        else { return .failure(.unknown) }
        return try spend(found.verification, attempt, in: db)
    }

    private func spend(
        _ verification: Verification, _ attempt: String, in db: any Transaction
    ) throws -> Result<Verification, Verification.Refusal> {
        let now = clock.now
        guard now < verification.expiresAt else { return .failure(.gone(reason: "verification_late")) }
        let won = try db.execute(
            """
            UPDATE verifications SET spent_at = \(now), spent_by = \(attempt)
            WHERE id = \(verification.id) AND spent_at IS NULL
            """)
        if won == 1 { return .success(verification) }
        let found = try Self.find(verification.id, verification.purpose, in: db)
        guard let found, found.spentBy == attempt else { return .failure(.gone(reason: "verification_spent")) }
        return .success(found.verification)
    }
}

// MARK: - Rows

extension Verifications {
    private struct Found {
        let verification: Verification
        let code: String?
        let tries: Int64
        var isSpent: Bool { verification.wasTaken }
        let spentBy: String?
        var isOfOldKey: Bool { code == Verifications.codeOfOldKey }

        init?(_ row: Row) throws {
            guard let purpose = Verification.Purpose(rawValue: try row.get("purpose")) else { return nil }
            let hash: String? = try row.get("password_hash")
            let profile: String = try row.get("profile")
            let agreed: String = try row.get("agreed")
            verification = Verification(
                id: try row.get("id"), purpose: purpose, user: try row.get("user_id"),
                email: try row.get("email"),
                phone: try row.get("phone", as: String?.self).flatMap { PhoneNumber($0) },
                browser: try row.get("browser"),
                continueTo: try row.get("continue_to"),
                newcomer: hash.map { Verification.Newcomer(passwordHash: $0, profile: profile, agreed: agreed) },
                method: try row.get("method", as: String?.self).flatMap(SignIn.Method.init),
                issuer: try row.get("issuer_id"),
                createdAt: try row.get("created_at"), expiresAt: try row.get("expires_at"),
                wasTaken: try row.get("spent_at", as: Timestamp?.self) != nil)
            code = try row.get("code")
            tries = try row.get("tries")
            spentBy = try row.get("spent_by")
        }
    }

    private static let columns: SQL.Columns =
        """
        id, purpose, user_id, email, phone, code, browser, password_hash, profile, agreed, method, issuer_id, \
        continue_to, tries, created_at, expires_at, spent_at, spent_by
        """

    private static func find(
        _ id: Verification.ID, _ purpose: Verification.Purpose, in db: any Transaction
    ) throws -> Found? {
        try db.rows(
            "SELECT \(columns) FROM verifications WHERE id = \(id) AND purpose = \(purpose.rawValue)"
        ).first.flatMap(Found.init)
    }

    private func find(
        _ link: Secret<Verification>, _ purpose: Verification.Purpose, attempt: String?, in db: any Transaction
    ) throws -> Result<Verification, Verification.Refusal> {
        let rows = try db.rows(
            """
            SELECT \(Self.columns) FROM verifications
            WHERE link = \(link.fingerprint) AND purpose = \(purpose.rawValue)
            """)
        guard let found = try rows.first.flatMap(Found.init), let lifetime = purpose.linkLifetime else {
            return .failure(.unknown)
        }
        guard !found.isSpent || (attempt != nil && found.spentBy == attempt) else {
            return .failure(.gone(reason: "link_spent"))
        }
        guard found.verification.createdAt + lifetime > clock.now else { return .failure(.gone(reason: "link_late")) }
        return .success(found.verification)
    }
}

extension Verifications {
    /// Deletes all verifications of an address, in the caller's transaction: its user is being deleted.
    static func forget(email: String, in db: any Transaction) throws {
        try db.execute("DELETE FROM verifications WHERE email = \(email)")
    }

    /// The same for those of a phone number.
    static func forget(phone: PhoneNumber, in db: any Transaction) throws {
        try db.execute("DELETE FROM verifications WHERE phone = \(phone)")
    }
}

extension Verifications {
    private static let exported: SQL.Columns = "purpose, email, phone, created_at, expires_at, spent_at"

    /// Includes those that wait at the user's address and name no user.
    static let export = StoredTable.Export.member("pending_verifications") { user, db in
        let most = StoredTable.Export.most
        var pending = try db.rows(
            "SELECT \(exported) FROM verifications WHERE user_id = \(user) LIMIT \(most)")
        if let email = try User.find(user, in: db)?.email {
            pending += try db.rows(
                "SELECT \(exported) FROM verifications WHERE email = \(email) AND user_id IS NULL LIMIT \(most)")
        }
        return .array(
            try pending.map { row in
                .members([
                    "purpose": .string(try row.get("purpose")), "email": .string(try row.get("email")),
                    "phone_number": try row.get("phone", as: String?.self).map { .string($0) },
                    "made_at": try row.utc("created_at"), "expires_at": try row.utc("expires_at"),
                    "used_at": try row.utc("spent_at"),
                ])
            })
    }
}

extension Verifications {
    /// Ends mailed codes and links that were asked for earlier.
    public static let subscriber = UserEvents.Subscriber(
        "Verifications",
        [
            .on(.accessRevoked, "ends the mail codes and links that are still open") { _, user, announcement, db in
                try endAll(of: user, at: announcement.now, in: db)
            },
            // A sign-up or a code may wait at the address and name no user.
            .on(.deleted, "deletes the codes and sign-ups that wait at the user's address and phone number") {
                _, user, _, db in
                let gone = try User.find(user, in: db)
                if let email = gone?.email { try forget(email: email, in: db) }
                if let phone = gone?.verifiedPhone { try forget(phone: phone, in: db) }
            },
        ])
}
