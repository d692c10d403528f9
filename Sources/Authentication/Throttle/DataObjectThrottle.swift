public import Directory
public import Storage
public import Values

/// Limits how fast the texts stored by clients of one merchant grow, because all merchants share the disk.
public enum DataObjectThrottle {
    /// What a row takes besides its value: its key, times and indexes.
    private static let overhead = 1024

    /// Charges the growth of an object to `size` bytes from its `earlier` size, nil for a new one, or refunds what it
    /// shrinks. Returns how long to wait without charging. A client without a merchant is charged alone.
    public static func charge(
        _ size: Int, insteadOf earlier: Int?, of client: Client.ID, _ merchant: Merchant.ID?, at now: Timestamp,
        in db: any Transaction
    ) throws -> Duration? {
        let growth = units(size) - (earlier.map(units) ?? 0)
        guard growth > 0 else {
            // An unchanged size needs no write.
            if growth < 0 { try Throttle.giveBack(bucket(-growth, of: client, merchant), in: db) }
            return nil
        }
        return try Throttle.take(bucket(growth, of: client, merchant), at: now, in: db)
    }

    /// Refunds the space of deleted objects with these `sizes` in bytes.
    public static func giveBack(
        _ sizes: [Int], of client: Client.ID, _ merchant: Merchant.ID?, in db: any Transaction
    ) throws {
        try Throttle.giveBack(bucket(sizes.map(units).reduce(0, +), of: client, merchant), in: db)
    }

    private static func units(_ size: Int) -> Int64 { Int64((size + overhead + 1023) / 1024) }

    /// 256 MiB at once, then 4 KiB a second.
    private static func bucket(_ units: Int64, of client: Client.ID, _ merchant: Merchant.ID?) -> Throttle.Bucket {
        Throttle.Bucket(
            "data objects of|\(merchant?.text ?? client.text)", burst: 256 * 1024, refill: .milliseconds(250),
            cost: units)
    }
}
