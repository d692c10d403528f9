import Directory
import Storage
import Values

/// Limits how often users are changed: every change is told to all clients that know the user.
extension Throttle {
    /// Charges a change of `user` by the user, or throws how long to wait without charging it.
    static func chargeOwnChange(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Bucket("own changes|\(user)", burst: 20, refill: .seconds(30))
        if let wait = try take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }

    /// As above for a new password set in `session`. A user who proved the former password is charged as the user, in
    /// any session. Otherwise the session is charged, so that a copied cookie of another session cannot use up the
    /// change that ends it.
    static func chargeOwnPassword(
        in session: Session, isProved: Bool, at now: Timestamp, in db: any Transaction
    ) throws {
        let setter = isProved ? "\(session.user)" : "\(session.user)|\(session.id)"
        let bucket = Bucket("own passwords|\(setter)", burst: 20, refill: .seconds(30))
        if let wait = try take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }

    /// Charges a request of `user` for deletion. Each ends and tells as much as a new password, and sends a mail; a
    /// user can cancel at any time and ask again.
    static func chargeDeletion(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Bucket("deletions|\(user)", burst: 5, refill: .hours(1))
        if let wait = try take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }

    /// As above for a change of `user` by a client or an administrator of `merchant`, which leaves the shares of the
    /// user and of other merchants alone.
    static func chargeChange(
        of user: UserID, by merchant: Merchant.ID?, at now: Timestamp, in db: any Transaction
    ) throws {
        let bucket = Bucket("changes by|\(merchant?.text ?? "")|\(user)", burst: 20, refill: .seconds(30))
        if let wait = try take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }
}
