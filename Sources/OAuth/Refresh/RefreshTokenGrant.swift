public import Cryptography
public import Directory
public import Keys
public import Values

/// Refreshes an access token (RFC 6749 §6). Rotation tolerates a lost response, but not a thief.
public struct RefreshTokenGrant: Grant {
    public static let type = GrantType.refreshToken

    let tokens: RefreshTokens
    let seal: Seal
    private let clock: any WallClock
    private let random: any RandomSource

    public init(tokens: RefreshTokens, seal: Seal, clock: any WallClock, random: any RandomSource) {
        self.tokens = tokens
        self.seal = seal
        self.clock = clock
        self.random = random
    }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let value = Secret<RefreshToken>(try request.parameters.require(.refreshToken))
        let now = clock.now
        guard let token = try await tokens.find(value.fingerprint) else {
            // A forgotten token of the family: it has been replaced since.
            guard let family = RefreshToken.family(of: value, markedBy: seal),
                try await tokens.isLive(family, of: client)
            else { throw OAuthError.refreshRefused("unknown_refresh_token") }
            return replay(of: family, user: nil, by: client)
        }
        do {
            return try await authorize(request, by: token, value, client: client, at: now)
        } catch let refusal as OAuthError {
            throw refusal.of(token.subject?.user)
        }
    }

    private func authorize(
        _ request: TokenRequest, by token: RefreshToken, _ value: Secret<RefreshToken>, client: Client,
        at now: Timestamp
    ) async throws -> Authorization {
        // Another client's request neither spends nor revokes.
        guard token.client == client.id else { throw OAuthError.refreshRefused("refresh_token_of_another_client") }
        guard !token.hasEnded else { throw OAuthError.refreshRefused("token_family_ended") }
        // The client may have shortened the family's life since the token was issued.
        let end = client.refreshFamilyLifetime.end(since: token.familyCreatedAt) ?? token.expiresAt
        let isExpired = now >= min(token.expiresAt, end)
        let newest = try await newest(after: token, value, of: client, at: now)
        // Checked before anything that a good token must meet: two parties hold this one.
        if newest == nil,
            token.isReplaced || !isExpired && token.isTooLateToRepeat(at: now, within: client.refreshRepeatWindow)
        {
            return replay(of: token.family, user: token.subject?.user, by: client)
        }
        guard token.standing == .live else { throw OAuthError.refreshRefused("token_family_ended") }
        try Self.confirm(token, client)
        guard !isExpired else { throw OAuthError.refreshRefused("refresh_token_expired") }

        // RFC 6749 §6: never wider than the token's scope, and never wider than the client's scope now.
        let limit = token.scope.intersection(client.scope)
        let scope =
            if let text = request.parameters[.scope] { try client.granted(text, within: limit) } else { limit }
        if let newest { return share(newest, client, scope) }
        switch token.state {
        case .current where client.rotates: return rotate(token, value, client, scope, at: now)
        case .current: return keep(token, value, client, scope, at: now)
        case .rotated where token.repeats >= RefreshToken.mostRepeats: throw OAuthError.repeatedTooOften(token)
        case .rotated(let rotation): return try repeatAnswer(token, value, rotation, client, scope)
        case .confirmed: return replay(of: token.family, user: token.subject?.user, by: client)
        }
    }

    /// Confirms requirements that the client may have got since the token was issued, for its users and for itself. The
    /// token stays good.
    private static func confirm(_ token: RefreshToken, _ client: Client) throws(OAuthError) {
        guard token.isOfVerifiedUser || !client.requiresVerifiedEmail else {
            throw .unverifiedUser.of(token.subject?.user)
        }
        guard token.subject != nil || client.may(.refreshOwnTokens) && client.may(.clientCredentials) else {
            throw .refreshRefused("own_tokens_taken_away")
        }
    }

    private func rotate(
        _ token: RefreshToken, _ value: Secret<RefreshToken>, _ client: Client, _ scope: Scope, at now: Timestamp
    ) -> Authorization {
        let successor = RefreshToken.secret(of: token.family, markedBy: seal, at: now, from: random)
        let redemption = RefreshRotation(
            token: token, successor: successor.fingerprint,
            sealed: seal.seal(successor.value, .successor, of: value.value, row: token.fingerprint.text),
            seal: seal,
            expiresAt: RefreshToken.expiry(at: now, client: client, familySince: token.familyCreatedAt),
            isInLeeway: token.isInLeeway(of: client, at: now))
        return authorization(token, client, scope, answer: successor, rotation: token.fingerprint, redemption)
    }

    /// A confidential client keeps its refresh token, because a thief lacks its secret.
    private func keep(
        _ token: RefreshToken, _ value: Secret<RefreshToken>, _ client: Client, _ scope: Scope, at now: Timestamp
    ) -> Authorization {
        let expiresAt = RefreshToken.expiry(at: now, client: client, familySince: token.familyCreatedAt)
        return authorization(
            token, client, scope, answer: value, rotation: nil,
            RefreshWithoutRotation(token: token, expiresAt: expiresAt))
    }

    /// The response to the rotation may have been lost: returns the same successor, with a new access token.
    private func repeatAnswer(
        _ token: RefreshToken, _ value: Secret<RefreshToken>, _ rotation: RefreshToken.Rotation, _ client: Client,
        _ scope: Scope
    ) throws -> Authorization {
        guard let successor = successor(of: token, value, rotation) else {
            throw OAuthError.refreshRefused("successor_not_sealed_under_this_key")
        }
        return authorization(
            token, client, scope, answer: successor, rotation: token.fingerprint, RefreshRepeat(token: token))
    }

    /// Opens the successor that was given for `token`.
    func successor(
        of token: RefreshToken, _ value: Secret<RefreshToken>, _ rotation: RefreshToken.Rotation
    ) -> Secret<RefreshToken>? {
        rotation.sealed.flatMap { seal.open($0, .successor, of: value.value, row: token.fingerprint.text) }
            .map { Secret($0) }
    }

    private func replay(of family: TokenFamily.ID, user: UserID?, by client: Client) -> Authorization {
        Authorization(
            client: client, subject: nil, scope: .empty, family: .existing(family), refresh: .none,
            redemption: RefreshReplay(family: family, user: user))
    }

    func authorization(
        _ token: RefreshToken, _ client: Client, _ scope: Scope, answer: Secret<RefreshToken>?,
        rotation: Fingerprint<RefreshToken>?, _ redemption: any Redemption
    ) -> Authorization {
        Authorization(
            client: client, subject: token.subject, scope: scope, family: .existing(token.family),
            refresh: answer.map { .answer($0) } ?? .none, rotation: rotation, request: token.request,
            redemption: redemption)
    }
}
