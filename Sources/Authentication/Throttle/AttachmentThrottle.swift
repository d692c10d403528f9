public import Directory
public import Storage
public import Values

/// Limits how often a merchant's apps attach provider accounts to one user, who gets a mail each time. A merchant could
/// end each link by deleting its issuer, and attach again without limit.
public enum AttachmentThrottle {
    /// Charges one to `user` by a client of `merchant`. Throws `PasswordSignIn.Refusal.throttled` after many.
    public static func charge(
        _ user: UserID, by merchant: Merchant.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        let bucket = Throttle.Bucket("attachments by|\(merchant)|\(user)", burst: 10, refill: .minutes(10))
        if let wait = try Throttle.take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }
}
