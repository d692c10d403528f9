public import Cryptography
public import Directory
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
