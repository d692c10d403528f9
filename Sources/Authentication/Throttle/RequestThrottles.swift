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
        try Throttle.require(bucket, at: now, in: db)
    }
}

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

/// Limits redirects to identity providers, each of which leaves a row here.
public enum IdentityProviderThrottle {
    /// Charges one redirect that `address` asked for, or returns how long to wait without charging it.
    public static func charge(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try Throttle.take(
            all: Throttle.origin("leaving", address, burst: 60, refill: .seconds(5)), at: now, in: db)
    }
}

/// Limits interactions that are started and abandoned: each is a row until it expires.
public enum InteractionThrottle {
    /// Charges one interaction that `address` started, or returns how long to wait without charging it.
    public static func charge(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try Throttle.take(
            all: Throttle.origin("interaction", address, burst: 1000, refill: .seconds(1)), at: now, in: db)
    }
}

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

/// Limits what support does for one user. Unlocking does not lift these limits, so that support can neither try
/// passwords without limit nor fill a mailbox.
public enum SupportThrottle {
    /// Charges the lifting of limits on `user`. Throws `PasswordSignIn.Refusal.throttled` after many.
    static func chargeUnlock(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try Throttle.require(
            Throttle.Bucket("unlocks by support|\(user)", burst: 5, refill: .minutes(12)), at: now, in: db)
    }

    /// As above for a mail to `user`: as many as the user could order.
    public static func chargeMail(to user: UserID, at now: Timestamp, in db: any Transaction) throws {
        try Throttle.require(
            Throttle.Bucket("mails by support|\(user)", burst: 5, refill: .minutes(12)), at: now, in: db)
    }
}

/// Limits how often a user takes access away, from apps, browsers or a phone number: each time one write goes through
/// what the user has at a merchant, or at all of them.
public enum RevocationThrottle {
    /// Charges one of `user`. Throws `PasswordSignIn.Refusal.throttled` after many.
    public static func charge(_ user: UserID, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Throttle.Bucket("revocations|\(user)", burst: 50, refill: .seconds(10))
        try Throttle.require(bucket, at: now, in: db)
    }

    /// Charges the end of all other sessions to `session`, apart from what other sessions may use: of two parties that
    /// hold sessions of a user, neither keeps the other from it.
    public static func chargeEnd(in session: Session, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Throttle.Bucket(
            "end of others|\(session.user)|\(session.id)", burst: 50, refill: .seconds(10))
        try Throttle.require(bucket, at: now, in: db)
    }
}
