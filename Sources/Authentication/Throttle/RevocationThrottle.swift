public import Directory
public import Storage
public import Values

/// Limits how often a user takes access away, from apps, browsers or a phone number: each time one write goes through
/// what the user has at a merchant, or at all of them.
public enum RevocationThrottle {
    /// Charges one of `user`. Throws `PasswordSignIn.Refusal.throttled` after many.
    public static func charge(_ user: UserID, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Throttle.Bucket("revocations|\(user)", burst: 50, refill: .seconds(10))
        if let wait = try Throttle.take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }

    /// Charges the end of all other sessions to `session`, apart from what other sessions may use: of two parties that
    /// hold sessions of a user, neither keeps the other from it.
    public static func chargeEnd(in session: Session, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Throttle.Bucket(
            "end of others|\(session.user)|\(session.id)", burst: 50, refill: .seconds(10))
        if let wait = try Throttle.take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }
}
