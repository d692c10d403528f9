import Directory
import Storage
import Values

/// Confirms that a request's decision still holds: its user, session and consent are live. Also stores the code that
/// goes with the tokens, if any.
struct BrowserRedemption: Redemption {
    let request: AuthorizationRequest
    let session: Session
    let code: Fingerprint<AuthorizationCode>?
    let charge: CodeCharge

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        try win(at: attempt.now, in: db)
    }

    func win(at now: Timestamp, in db: any Transaction) throws -> RedemptionOutcome {
        guard try isSignedIn(in: db), try request.isAllowed(by: session.user, in: session.id, db) else {
            return .changed
        }
        if let code {
            try charge(session.user, request.returnAddress.client.shareOfUser, now, db)
            try AuthorizationCodes.store(code, for: request, in: session, at: now, db)
        }
        return .won
    }

    private func isSignedIn(in db: any Transaction) throws -> Bool {
        try !db.rows(
            """
            SELECT s.id FROM sessions s \(Standing.whatSessionsRestOn)
            WHERE s.id = \(session.id) AND s.user_id = \(session.user) AND s.renewals = \(session.renewals)
                AND \(Standing.ofSession)
            """
        ).isEmpty
    }
}

extension AuthorizationRequest {
    /// Whether `user` still allows all of it in `session`, read in this transaction.
    func isAllowed(by user: UserID, in session: Session.ID, _ db: any Transaction) throws -> Bool {
        let client = returnAddress.client
        guard try !Introductions.isDue(user, to: client, in: session, db),
            try !SessionClients.isGone(session, from: client.id, in: db)
        else { return false }
        let consented = client.may(.skipConsent) ? nil : try Consents.find(user, client.id, in: db)?.scope
        return scopeToAsk(for: consented) == nil
    }
}
