public import Cryptography
public import Directory
public import Storage
public import Values

/// Responses whose tokens bypass the token endpoint (OpenID Connect Core §3.2.2.5, §3.3.2.5): stores what they need,
/// all of it or nothing.
public struct FrontChannelTokens: Sendable {
    private let database: any Database
    private let mint: BearerTokenMint
    private let clock: any WallClock
    private let random: any RandomSource
    private let charge: CodeCharge

    public init(
        database: any Database, mint: BearerTokenMint, clock: any WallClock, random: any RandomSource,
        charge: @escaping CodeCharge
    ) {
        self.database = database
        self.mint = mint
        self.clock = clock
        self.random = random
        self.charge = charge
    }

    /// What `request` asks for, except the ID token, allowed by the user of `session`. Nil when the consent or the
    /// session has ended since the request was decided.
    public func response(
        for request: AuthorizationRequest, in session: Session
    ) async throws -> FrontChannelResponse? {
        let now = clock.now
        let code =
            request.responseType.contains(.code)
            ? Secret<AuthorizationCode>.ordered(at: now, from: random) : nil
        let redemption = BrowserRedemption(
            request: request, session: session, code: code?.fingerprint, charge: charge)
        guard request.responseType.contains(.token) else {
            // A client that gets only an ID token is connected too, and is notified of a logout.
            let family =
                request.responseType.contains(.idToken)
                ? family(for: request, in: session, at: now) : nil
            let client = request.returnAddress.client
            let announcement = mint.callbacks.announcement(at: now)
            let stands = try await database.write { db -> Bool in
                guard case .won = try redemption.win(at: now, in: db),
                    try family == nil || Clients.noteUse(of: client, at: now, in: db)
                else { return false }
                if let family { try TokenFamilies.store(family, telling: announcement, in: db) }
                return true
            }
            announcement.send()
            mint.clients.didNoteUse(of: client)
            return stands ? FrontChannelResponse(code: code) : nil
        }
        let authorization = Authorization(
            client: request.returnAddress.client, subject: Subject(session), scope: request.scope.forNow,
            family: .new(.session(session.signIn, boughtBy: session.buyer)), refresh: .none,
            request: request.authentication,
            isOfFrontChannel: true, redemption: redemption)
        guard let tokens = try await mint.tokens(for: authorization) else { return nil }
        return FrontChannelResponse(code: code, tokens: tokens)
    }

    private func family(
        for request: AuthorizationRequest, in session: Session, at now: Timestamp
    ) -> NewTokenFamily {
        let client = request.returnAddress.client
        return NewTokenFamily(
            id: .ordered(at: now, from: random), origin: .session(session.signIn, boughtBy: session.buyer),
            client: client.id, subject: Subject(session), scope: request.scope,
            request: request.authentication.withoutNonce, createdAt: now,
            expiresAt: now + request.authentication.idTokenLifetime(of: client), isOfFrontChannel: true)
    }
}
