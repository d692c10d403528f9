public import Cryptography
public import Directory
public import Storage
public import Values

/// A one-time code of the authorization code grant (RFC 6749 §4.1.2), with everything it is bound to.
public struct AuthorizationCode: Sendable {
    let client: Client.ID
    let subject: Subject
    /// The sign-in under which the user allowed the code.
    let signIn: SignIn
    let request: AuthenticationRequest
    let scope: Scope
    let redirectURI: RedirectURI
    let redirectURISent: Bool
    let challenge: CodeChallenge?
    let expiresAt: Timestamp
    /// The path of the token family that bought the session in which the code was issued, if one did.
    let buyer: TokenFamily.Path?

    public static let lifetime: Duration = .seconds(60)

    /// Checks every binding, in the order of RFC 6749 §4.1.3 and RFC 7636 §4.6, and that the client still has the
    /// redirect URI. Expiry and single use are checked later, so that another client's request can neither spend nor
    /// revoke the code.
    func check(client: Client, redirectURI: String?, verifier: CodeVerifier?) throws(OAuthError) {
        guard self.client == client.id else { throw .codeRefused("code_of_another_client") }
        guard client.returnURI(self.redirectURI.text, besides: nil) != nil else {
            throw .codeRefused("redirect_uri_removed")
        }
        guard redirectURI != nil || !redirectURISent else { throw .missing(.redirectURI) }
        guard redirectURI.map({ client.means(self.redirectURI, by: $0) }) ?? true else {
            throw .codeRefused("redirect_uri_mismatch")
        }
        switch (challenge, verifier) {
        case (nil, nil): return
        // RFC 9700 §2.1.1: a verifier without a challenge is the sign of a downgrade.
        case (nil, .some): throw .codeRefused("verifier_without_challenge")
        case (.some, nil): throw .missing(.codeVerifier)
        case (let challenge?, let verifier?):
            guard challenge.isProven(by: verifier) else { throw .codeRefused("wrong_verifier") }
        }
    }
}

/// The stored authorization codes.
public struct AuthorizationCodes: Sendable {
    private let database: any Database
    private let random: any RandomSource
    private let charge: CodeCharge

    public init(database: any Database, random: any RandomSource, charge: @escaping CodeCharge) {
        self.database = database
        self.random = random
        self.charge = charge
    }

    /// Makes a code for `request`, allowed by the user of `session`. Nil when the user has revoked the permission since
    /// the request was decided.
    public func issue(
        _ request: AuthorizationRequest, in session: Session, at now: Timestamp
    ) async throws -> Secret<AuthorizationCode>? {
        let code = Secret<AuthorizationCode>.ordered(at: now, from: random)
        let isStored = try await database.write { [charge] db -> Bool in
            try charge(session.user, request.returnAddress.client.shareOfUser, now, db)
            guard try request.isAllowed(by: session.user, in: session.id, db) else { return false }
            try Self.store(code.fingerprint, for: request, in: session, at: now, db)
            return true
        }
        return isStored ? code : nil
    }

    static func store(
        _ fingerprint: Fingerprint<AuthorizationCode>, for request: AuthorizationRequest, in session: Session,
        at now: Timestamp, _ db: any Transaction
    ) throws {
        let (address, asked, signIn) = (request.returnAddress, request.authentication, session.signIn)
        try db.enqueue(
            """
            INSERT INTO authorization_codes (fingerprint, client_id, user_id, session_id, scope, redirect_uri,
                redirect_uri_sent, code_challenge, nonce, signed_in_at, is_dated, method, issuer_id, expires_at,
                claims, resource, trial, renewals)
            VALUES (\(fingerprint), \(address.client.id), \(session.user), \(session.id), \(request.scope),
                \(address.redirectURI.text), \(address.wasSent), \(request.challenge?.text), \(asked.nonce),
                \(signIn.at), \(signIn.isDated), \(signIn.method.rawValue), \(signIn.issuer),
                \(now + AuthorizationCode.lifetime), \(asked.claims?.text), \(asked.resource),
                \(asked.trial?.text), \(session.renewals))
            ON CONFLICT (fingerprint) DO NOTHING
            """)
    }

    static func find(
        _ fingerprint: Fingerprint<AuthorizationCode>, in database: any Database
    ) async throws -> AuthorizationCode? {
        try await database.rows(
            """
            SELECT c.client_id, c.user_id, c.scope, c.redirect_uri, c.redirect_uri_sent, c.code_challenge,
                c.signed_in_at, c.is_dated, c.method, c.issuer_id, c.expires_at, c.session_id, c.nonce, c.claims,
                c.resource, c.trial, s.path
            FROM authorization_codes c LEFT JOIN sessions s ON s.id = c.session_id
            WHERE c.fingerprint = \(fingerprint)
            """
        ).first.map(AuthorizationCode.init)
    }

    /// Whether the session of a code is live, is good for the code's client, and still has the cookie secret under
    /// which the code was issued.
    private static let isSessionGood: SQL =
        """
        EXISTS (SELECT 1 FROM sessions s \(Standing.whatSessionsRestOn)
            WHERE s.id = authorization_codes.session_id AND \(Standing.ofSession)
                AND (\(Issuers.merchant) IS NULL OR \(Issuers.merchant) = (
                    SELECT o.merchant_id FROM clients o WHERE o.id = authorization_codes.client_id))
                AND s.renewals = authorization_codes.renewals)
        """

    /// Whether the introduction or the consent that a code rests on still stands, and its user has not left the client.
    /// Asked at redemption, because a transaction that revokes it does not see a code stored at the same time.
    private static let isStillAllowed: SQL =
        """
        NOT EXISTS (SELECT 1 FROM clients c LEFT JOIN merchants m ON m.id = c.merchant_id
            WHERE c.id = authorization_codes.client_id AND NOT CASE
                WHEN \(ClientRight.skipConsent.held(by: "c")) THEN m.id IS NULL OR m.skips_introduction = 1
                    OR \(Introductions.haveMet(user: "authorization_codes.user_id", merchant: "m.id"))
                    OR EXISTS (SELECT 1 FROM sessions b
                        WHERE b.id = authorization_codes.session_id AND b.path IS NOT NULL)
                ELSE authorization_codes.scope = '' OR EXISTS (SELECT 1 FROM consents k
                    WHERE k.user_id = authorization_codes.user_id AND k.client_id = c.id AND \(Consents.isGood)) END)
        AND NOT \(SessionClients.isGone(
            session: "authorization_codes.session_id", client: "authorization_codes.client_id"))
        """

    /// Spends an unexpired code while its user and session are live and what the user allowed stands. The number of
    /// changed rows decides. The end of a session, also by a new password, ends everything issued in it.
    static func spend(
        _ fingerprint: Fingerprint<AuthorizationCode>, for attempt: Attempt, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            """
            UPDATE authorization_codes
            SET spent_at = \(attempt.now), spent_by = \(attempt.id), family_id = \(attempt.family)
            WHERE fingerprint = \(fingerprint) AND spent_at IS NULL AND expires_at > \(attempt.now)
                AND \(isSessionGood) AND \(isStillAllowed)
                AND NOT \(CodeEnds.condition(
                    user: "authorization_codes.user_id", client: "authorization_codes.client_id",
                    soldAt: "authorization_codes.expires_at - \(AuthorizationCode.lifetime.milliseconds)"))
            """) == 1
    }

    /// Spends a code a second time, for a client that may repeat (`first` spent it), while the code, its user, its
    /// session and its tokens live. The code expires with this, so a third attempt fails, including one that has waited
    /// for this one. The number of changed rows decides.
    static func spendAgain(
        _ fingerprint: Fingerprint<AuthorizationCode>, after first: String, for attempt: Attempt, in db: any Transaction
    ) throws -> Bool {
        try db.execute(
            """
            UPDATE authorization_codes
            SET expires_at = \(attempt.now - .minutes(10)), spent_by = \(attempt.id), family_id = \(attempt.family)
            WHERE fingerprint = \(fingerprint) AND spent_by = \(first) AND expires_at > \(attempt.now)
                AND \(isSessionGood)
                AND EXISTS (SELECT 1 FROM token_families f
                    WHERE f.id = authorization_codes.family_id AND f.ended_at IS NULL)
            """) == 1
    }
}

extension AuthorizationCode {
    fileprivate init(_ row: Row) throws {
        let (signIn, buyer): (SignIn, TokenFamily.Path?) = (try SignIn(row), try row.get("path"))
        self.init(
            client: try row.get("client_id"),
            subject: Subject(
                user: try row.get("user_id"), signIn, session: try row.get("session_id"), isBought: buyer != nil),
            signIn: signIn,
            request: try AuthenticationRequest(row, nonce: try row.get("nonce")),
            scope: try row.get("scope"), redirectURI: RedirectURI(stored: try row.get("redirect_uri")),
            redirectURISent: try row.get("redirect_uri_sent"),
            challenge: try row.get("code_challenge", as: String?.self).map(CodeChallenge.init(stored:)),
            expiresAt: try row.get("expires_at"), buyer: buyer)
    }
}
