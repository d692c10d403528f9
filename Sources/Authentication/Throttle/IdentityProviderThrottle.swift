public import Storage
public import Values

/// Limits redirects to identity providers, each of which leaves a row here.
public enum IdentityProviderThrottle {
    /// Charges one redirect that `address` asked for, or returns how long to wait without charging it.
    public static func charge(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try Throttle.take(
            all: Throttle.origin("leaving", address, burst: 60, refill: .seconds(5)), at: now, in: db)
    }
}
