public import Storage
public import Values

/// Limits interactions that are started and abandoned: each is a row until it expires.
public enum InteractionThrottle {
    /// Charges one interaction that `address` started, or returns how long to wait without charging it.
    public static func charge(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try Throttle.take(
            all: Throttle.origin("interaction", address, burst: 1000, refill: .seconds(1)), at: now, in: db)
    }
}
