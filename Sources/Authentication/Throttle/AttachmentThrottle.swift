public import Directory
public import Storage
public import Values

/// Limits how often apps of a merchant attach accounts at providers to one user, who gets a mail each time. The
/// merchant ends such a link by deleting its issuer, and so could begin anew without end.
public enum AttachmentThrottle {
    /// Charges one to `user` by a client of `merchant`. Throws `PasswordSignIn.Refusal.throttled` after many.
    public static func charge(
        _ user: UserID, by merchant: Merchant.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        let bucket = Throttle.Bucket("attachments by|\(merchant)|\(user)", burst: 10, refill: .minutes(10))
        if let wait = try Throttle.take(bucket, at: now, in: db) { throw PasswordSignIn.Refusal.throttled(wait) }
    }
}
