public import Storage
public import Values

/// Limits mails that tell users what they did themselves, to addresses that nobody has shown to read: whoever made a
/// user with another person's address must not have that person told things as often as they like.
public enum NoticeThrottle {
    /// Charges one such mail to `recipient`. False when too many went there recently; then none is sent, and what it
    /// would tell happens all the same.
    public static func charge(_ recipient: String, at now: Timestamp, in db: any Transaction) throws -> Bool {
        let bucket = Throttle.Bucket("notices to|\(recipient)", burst: 5, refill: .minutes(12))
        return try Throttle.take(bucket, at: now, in: db) == nil
    }
}
