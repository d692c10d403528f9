public import Directory
public import Storage
public import Values

/// A user who signs in before the deletion is due may cancel it.
extension UserDeletion {
    public enum Decision: Sendable { case keep, leave }

    public enum Answer: Sendable, Equatable {
        case kept
        case leaving(Timestamp)
    }

    /// Applies the decision of a user who has just authenticated in this browser. A user who stays is signed in by
    /// `opening`.
    /// - Parameter isOpen: whether users can still sign in to all merchants with the issuer of this id.
    public func decide(
        _ decision: Decision, on id: Verification.ID, by attempt: VerificationAttempt, browser: Fingerprint<Browser>?,
        verifications: Verifications, opening: Session.Opening, replacing old: Session.ID?,
        isOpen: @escaping @Sendable (_ issuer: String, any Transaction) throws -> Bool
    ) async throws -> Result<Answer, Verification.Refusal> {
        let now = clock.now
        return try await events.write(to: database, at: now) { db, announcement in
            let taken = try verifications.take(
                id: id, purpose: .restore, browser: browser, attempt: attempt.id, in: db)
            let (user, offer): (UserID, Verification)
            switch taken {
            case .failure(let refusal): return .failure(refusal)
            case .success(let verification):
                guard let found = verification.user else { return .failure(.unknown) }
                (user, offer) = (found, verification)
            }
            // Disabling ends earlier offers, and there are no later ones, because a disabled user cannot sign in.
            guard try db.rows("SELECT id FROM users WHERE id = \(user) AND disabled_at IS NOT NULL").isEmpty else {
                return .failure(.gone(reason: "disabled_user"))
            }
            if decision == .keep, offer.wasTaken {
                return try offer.again(opening, replacing: old, at: now, in: db).map { _ in .kept }
            }
            if decision == .keep {
                // A session that rests on a deleted issuer would never be ended.
                if let issuer = offer.issuer, try !isOpen(issuer, db) {
                    return .failure(.gone(reason: "issuer_closed"))
                }
                try announcement.watching(user, in: db) { try Self.restore(user, at: now, in: db) }
            }
            let row = try db.rows("SELECT deletion_due_at FROM users WHERE id = \(user)").first
            guard let row else { return .failure(.gone(reason: "account_deleted")) }
            if let dueAt: Timestamp = try row.get("deletion_due_at") { return .success(.leaving(dueAt)) }
            // Cancelled in another browser meanwhile: a user who still wants to leave asks again.
            guard decision == .keep else { return .failure(.gone(reason: "kept_elsewhere")) }
            // One answer is enough. Another offer may rest on a sign-in method that the user removes now.
            try Verifications.endOffers(to: user, at: now, in: db)
            try Sessions.open(
                opening.by(offer.method ?? .mail, since: offer.createdAt).resting(on: offer.issuer), user: user,
                replacing: old, at: now, in: db, announcement)
            return .success(.kept)
        }
    }

    /// Cancels the deletion, if it is not due yet.
    static func restore(_ id: UserID, at now: Timestamp, in db: any Transaction) throws {
        try User.cancelDeletion(of: id, at: now, in: db)
    }
}
