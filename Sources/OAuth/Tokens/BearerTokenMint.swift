public import Cryptography
public import Directory
public import Keys
public import Storage
public import Values

/// Makes bearer tokens (RFC 6750): 256 random bits, or a JWT if the client wants one. Only the fingerprint is stored.
public struct BearerTokenMint: TokenMint {
    private let database: any Database
    let clients: Clients
    private let jwts: JWTAccessTokens
    /// The `user_id` of a user for a client.
    private let number: JWTAccessTokens.Name
    let callbacks: Callbacks
    private let seal: Seal
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        database: any Database, clients: Clients, jwts: JWTAccessTokens, number: @escaping JWTAccessTokens.Name,
        callbacks: Callbacks,
        seal: Seal, clock: any WallClock, random: any RandomSource
    ) {
        self.database = database
        self.clients = clients
        self.jwts = jwts
        self.number = number
        self.callbacks = callbacks
        self.seal = seal
        self.clock = clock
        self.random = random
    }

    public func tokens(for authorization: Authorization) async throws -> TokenResponse? {
        let now = clock.now
        let client = authorization.client
        let subject: String? =
            if let user = authorization.subject?.user { try await number(user, client) } else { nil }
        let accessToken = try await accessToken(for: authorization, at: now)
        let origin = random.bytes(16)
        let attemptID = Base64URL.encode(origin)
        let newFamily = family(for: authorization, in: attemptID, at: now)
        let family = newFamily?.id ?? authorization.existingFamily
        let newRefreshToken = refreshToken(for: authorization, of: family, at: now)
        func response(_ refreshToken: Secret<RefreshToken>?) -> TokenResponse {
            TokenResponse(
                accessToken: accessToken, refreshToken: refreshToken, lifetime: authorization.lifetime,
                scope: authorization.scope, user: authorization.subject?.user, subject: subject, client: client,
                issuedAt: now)
        }
        let attempt = Attempt(
            id: attemptID, family: family, newFamily: newFamily, accessToken: accessToken.fingerprint, now: now)
        let new = NewTokens(
            authorization: authorization, accessToken: accessToken.fingerprint, family: family, newFamily: newFamily,
            refreshToken: newRefreshToken?.fingerprint, now: now)
        let isDecidedByOneRow =
            client.usedAt != nil && authorization.redemption.isDecidedByOneRow(withNewFamily: newFamily != nil)
        if client.usedAt != nil, newFamily.map({ isDecidedByOneRow && $0.isStoredAlone }) ?? true,
            let statements = authorization.redemption.statements(attempt), try await wins(statements, new)
        {
            return response(newRefreshToken ?? authorization.knownRefreshToken)
        }

        let announcement = callbacks.announcement(at: now, origin: origin)

        let outcome = try await write(isDecidedByOneRow) { db in
            let outcome = try authorization.redemption.win(attempt, in: db)
            switch outcome {
            case .won: break
            case .wonAgain(let family):
                try TokenFamilies.end(family, by: client, because: "used_again", telling: announcement, in: db)
            case .replayed(_, let family):
                try TokenFamilies.end(family, by: client, because: "used_again", telling: announcement, in: db)
                return outcome
            case .wonBefore, .changed, .refused: return outcome
            }
            guard try Clients.noteUse(of: client, at: now, in: db) else {
                return .refused(.clientRefused("client_deleted_meanwhile", client.id))
            }
            for sql in new.insertions(when: nil) { try db.enqueue(sql) }
            if let newFamily { try TokenFamilies.keepUp(newFamily, telling: announcement, in: db) }
            return outcome
        }
        announcement.send()
        clients.didNoteUse(of: client)
        switch outcome {
        case .refused(let refusal), .replayed(let refusal, _):
            throw refusal.of(authorization.subject?.user)
        case .changed: return nil
        case .wonAgain: return response(newRefreshToken)
        case .won, .wonBefore: return response(newRefreshToken ?? authorization.knownRefreshToken)
        }
    }

    private func wins(_ statements: RedemptionStatements, _ new: NewTokens) async throws -> Bool {
        switch statements {
        case .storing(let condition): try await database.change(new.accessToken(when: condition))
        case .changing(let first, let decided, let hold, let next):
            try await database.change(first, decided: decided) { condition in
                // Without a condition there is a single writer, and nothing to hold.
                let held = condition.flatMap { hold?($0) }
                return (held.map { [$0] } ?? []) + next(condition) + new.insertions(when: condition)
            }
        }
    }

    private func write(
        _ isDecidedByOneRow: Bool, _ work: @escaping @Sendable (any Transaction) throws -> RedemptionOutcome
    ) async throws -> RedemptionOutcome {
        isDecidedByOneRow ? try await database.guardedWrite(work) : try await database.write(work)
    }

    private func accessToken(
        for authorization: Authorization, at now: Timestamp
    ) async throws -> Secret<AccessToken> {
        switch authorization.client.openID.accessTokenFormat {
        case .opaque: .ordered(at: now, from: random)
        case .jwt:
            try await jwts.token(for: authorization, id: Base64URL.encode(random.bytes(16)), at: now)
        }
    }

    private func family(
        for authorization: Authorization, in attempt: String, at now: Timestamp
    ) -> NewTokenFamily? {
        guard case .new(let origin) = authorization.family else { return nil }
        let code: ExchangeCode? = if case .code(let code) = origin { code } else { nil }
        let client = authorization.client
        let refreshes = if case .issue = authorization.refresh { true } else { false }
        return NewTokenFamily(
            id: code?.family ?? .ordered(at: now, from: random), origin: origin, client: client.id,
            subject: authorization.subject, scope: authorization.scope,
            request: authorization.request.withoutNonce, createdAt: now,
            expiresAt: refreshes
                ? RefreshToken.expiry(at: now, client: client, familySince: now).family
                : now + authorization.lifetime, isOfFrontChannel: authorization.isOfFrontChannel,
            redeemedBy: code == nil ? nil : attempt)
    }

    private func refreshToken(
        for authorization: Authorization, of family: TokenFamily.ID?, at now: Timestamp
    ) -> Secret<RefreshToken>? {
        guard case .issue = authorization.refresh, let family else { return nil }
        return RefreshToken.secret(of: family, markedBy: seal, at: now, from: random)
    }
}

extension Authorization {
    fileprivate var existingFamily: TokenFamily.ID? {
        if case .existing(let id) = family { id } else { nil }
    }
    fileprivate var knownRefreshToken: Secret<RefreshToken>? {
        if case .answer(let token) = refresh { token } else { nil }
    }
}

/// What a mint stores for one request.
struct NewTokens: Sendable {
    let authorization: Authorization
    let accessToken: Fingerprint<AccessToken>
    let family: TokenFamily.ID?
    /// Nil when the family is stored already, or there is none.
    let newFamily: NewTokenFamily?
    /// The first refresh token of the new family.
    let refreshToken: Fingerprint<RefreshToken>?
    let now: Timestamp

    /// Stores all of it, if `condition` holds.
    func insertions(when condition: SQL?) -> [SQL] {
        var all = [accessToken(when: condition)]
        guard let newFamily else { return all }
        all += TokenFamilies.insertions(of: newFamily, when: condition)
        if let refreshToken {
            all.append(
                RefreshTokens.insertion(
                    of: refreshToken, newFamily, client: authorization.client, at: now, when: condition))
        }
        return all
    }

    /// Stores the access token, if `condition` holds.
    func accessToken(when condition: SQL?) -> SQL {
        AccessTokens.insertion(of: accessToken, for: authorization, family: family, at: now, when: condition)
    }
}
