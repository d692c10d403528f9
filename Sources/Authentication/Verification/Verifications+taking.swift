import Cryptography
import Directory
public import Storage
public import Values

/// Takes returned secrets. Each is taken once: the number of changed rows decides. `attempt` is the id of a
/// `VerificationAttempt`, or one that the caller made. A secret taken by the same attempt is given out again, marked as
/// such (`Verification.wasTaken`): a browser sent its form twice, or a COMMIT of unknown outcome runs again. What
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
