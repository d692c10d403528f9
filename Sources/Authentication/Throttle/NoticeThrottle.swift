public import Storage
public import Values

/// Limits mails that tell users what they did themselves, to unverified addresses: a user made with another user's
/// address must not be able to flood it.
public enum NoticeThrottle {
    /// Charges one mail to `recipient`. False when too many went there recently; then no mail is sent, but the action
    /// it would report takes place.
    public static func charge(_ recipient: String, at now: Timestamp, in db: any Transaction) throws -> Bool {
        let bucket = Throttle.Bucket("notices to|\(recipient)", burst: 5, refill: .minutes(12))
        return try Throttle.take(bucket, at: now, in: db) == nil
    }
}
