public import Storage
public import Values

/// Slows whoever has authorization requests begin that meet nobody: each is a row until its time is over.
public enum InteractionThrottle {
    /// Charges one that somebody at `address` began, or returns how long to wait without charging it.
    public static func charge(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try Throttle.take(
            all: Throttle.origin("interaction", address, burst: 1000, refill: .milliseconds(250)), at: now, in: db)
    }
}
