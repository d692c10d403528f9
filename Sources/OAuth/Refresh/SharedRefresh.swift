import Directory
import Storage
import Values

// The tabs of a browser app refresh with one stored token and take no lock. Within the client's leeway
// (`Client.refreshLeeway`), a token that another tab rotated stands for its newest successor. Both tabs then hold that
// successor, so the chain does not fork, and any use of the old token after the leeway ends the family.

extension RefreshTokenGrant {
    /// Limits the search for the newest token, when several tabs come with older and older ones.
    private static let mostSuccessors = 20

    /// The current token that `token` still stands for, with its text; nil for a current token and after the leeway.
    func newest(
        after token: RefreshToken, _ value: Secret<RefreshToken>, of client: Client, at now: Timestamp
    ) async throws -> (token: RefreshToken, value: Secret<RefreshToken>)? {
        var newest = (token: token, value: value)
        for _ in 1...Self.mostSuccessors {
            guard let rotation = newest.token.rotation, client.isInRefreshLeeway(now, of: rotation.at),
                let value = successor(of: newest.token, newest.value, rotation),
                let token = try await tokens.find(value.fingerprint)
            else { return nil }
            newest = (token, value)
            if case .current = token.state { return newest }
        }
        return nil
    }

    /// Gives a tab the token that another tab has, with an access token of its own.
    func share(
        _ newest: (token: RefreshToken, value: Secret<RefreshToken>), _ client: Client, _ scope: Scope
    ) -> Authorization {
        authorization(
            newest.token, client, scope, answer: newest.value, rotation: newest.token.predecessor,
            SharedRefresh(token: newest.token))
    }
}

extension RefreshToken {
    /// Whether another tab may still present its predecessor.
    func isInLeeway(of client: Client, at now: Timestamp) -> Bool {
        guard predecessor != nil, let issuedAt = fingerprint.time else { return false }
        return client.isInRefreshLeeway(now, of: issuedAt)
    }
}

/// Holds while the token is current. The token itself was not presented, so this spends and confirms nothing. It is no
/// repetition either, and no access token ends: tabs do this at every rotation.
struct SharedRefresh: Redemption {
    let token: RefreshToken

    /// The end of the family also ends a token that is stored at the same time.
    func isDecidedByOneRow(withNewFamily: Bool) -> Bool { !withNewFamily }

    func statements(_ attempt: Attempt) -> RedemptionStatements? { whileCurrent(attempt) }

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        try whileCurrent(attempt).win(in: db) ? .won : .changed
    }

    private func whileCurrent(_ attempt: Attempt) -> RedemptionStatements {
        .storing(when: "EXISTS (\(token.ifCurrent(at: attempt.now)))")
    }
}
