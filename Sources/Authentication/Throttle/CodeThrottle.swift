import Directory
public import Storage
public import Values

/// Limits how many authorization codes and session codes are stored for one user, each for minutes.
public enum CodeThrottle {
    /// Charges a code of `user` to `share`, or charges nothing and returns how long to wait.
    public static func charge(
        _ user: UserID, by share: String, at now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        let bucket = Throttle.Bucket("codes|\(user)|\(share)", burst: 1000, refill: .milliseconds(200))
        return try Throttle.take(bucket, at: now, in: db)
    }
}
