public import Directory
public import Storage
public import Values

/// Limits how fast texts grow that clients of one merchant keep here: the disk belongs to all merchants.
public enum DataObjectThrottle {
    /// What a row takes beside its value: its key, times and indexes.
    private static let overhead = 1024

    /// Charges what an object takes more than the `earlier` size of its value, in bytes, that it has now; nil for a new
    /// one. Returns how long to wait without charging it. A client without a merchant is charged alone.
    public static func charge(
        _ size: Int, insteadOf earlier: Int?, of client: Client.ID, _ merchant: Merchant.ID?, at now: Timestamp,
        in db: any Transaction
    ) throws -> Duration? {
        let growth = size - (earlier ?? -overhead)
        guard growth > 0 else { return nil }
        // 256 MiB at once, then 4 KiB a second.
        let bucket = Throttle.Bucket(
            "data objects of|\(merchant?.text ?? client.text)", burst: 256 * 1024, refill: .milliseconds(250),
            cost: Int64((growth + 1023) / 1024))
        return try Throttle.take(bucket, at: now, in: db)
    }
}
