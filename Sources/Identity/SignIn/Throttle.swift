import Storage
import Values

/// Slows whoever guesses passwords, without a way to lock the owner out.
///
/// Three buckets (generic cell rate algorithm: one stored moment each): the pair of account and address, the address,
/// the account. An attempt is charged before the password is looked at, so that a volley in parallel gains nothing;
/// a refused attempt changes nothing, so hammering does not prolong it. An account under attack from everywhere is
/// never closed: each address still gets a few tries of its own. And where its owner signed in before, from the address
/// or in the browser, only the pair counts: no attack from elsewhere is felt there, nor, in the browser, one from the
/// same address.
enum Throttle {
    struct Attempt: Sendable {
        let account: String
        let address: String
        /// The owner has signed in from here before.
        let known: Known?

        enum Known: Sendable {
            case address
            case device(Fingerprint<KnownPlaces.Place>)
        }

        var isKnown: Bool { known != nil }
    }

    struct Bucket: Sendable {
        let name: Fingerprint<Bucket>
        let burst: Int64
        let refill: Duration

        init(_ name: String, burst: Int64, refill: Duration) {
            self.name = Fingerprint(of: name)
            self.burst = burst
            self.refill = refill
        }

        /// How long until one more fits; zero or less when it fits now.
        func wait(fullAt: Timestamp, at now: Timestamp) -> Duration {
            max(fullAt, now) + refill - now - .milliseconds(refill.milliseconds * burst)
        }
    }

    static func pair(_ attempt: Attempt, underAttack: Bool) -> Bucket {
        let origin = if case .device(let mark) = attempt.known { "device \(mark.text)" } else { attempt.address }
        return Bucket("pair|\(attempt.account)|\(origin)", burst: underAttack ? 3 : 10, refill: .seconds(30))
    }
    static func address(_ attempt: Attempt) -> Bucket {
        Bucket("address|\(attempt.address)", burst: 60, refill: .seconds(5))
    }
    static func account(_ attempt: Attempt) -> Bucket {
        Bucket("account|\(attempt.account)", burst: 30, refill: .seconds(60))
    }

    /// Charges one attempt, or returns how long to wait without charging it.
    static func charge(_ attempt: Attempt, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        guard !attempt.isKnown else {
            return try take(pair(attempt, underAttack: false), at: now, in: db)
        }
        let account = account(attempt)
        let underAttack = account.wait(fullAt: try fullAt(account, in: db), at: now) > .zero
        let address = address(attempt)
        let addressWait = address.wait(fullAt: try fullAt(address, in: db), at: now)
        guard addressWait <= .zero else { return addressWait }
        if let wait = try take(pair(attempt, underAttack: underAttack), at: now, in: db) { return wait }
        _ = try take(address, at: now, in: db)
        if !underAttack { _ = try take(account, at: now, in: db) }
        return nil
    }

    /// Takes a charge back: the password was right, or was not looked at.
    static func refund(_ attempt: Attempt, succeeded: Bool, in db: any Transaction) throws {
        let pair = pair(attempt, underAttack: false)
        if succeeded {
            try db.execute("DELETE FROM throttles WHERE name = \(pair.name)")
        } else {
            try giveBack(pair, in: db)
        }
        guard !attempt.isKnown else { return }
        try giveBack(address(attempt), in: db)
        try giveBack(account(attempt), in: db)
    }

    static func take(_ bucket: Bucket, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        let full = try fullAt(bucket, in: db)
        let wait = bucket.wait(fullAt: full, at: now)
        guard wait <= .zero else { return wait }
        try db.execute(
            """
            INSERT INTO throttles (name, full_at) VALUES (\(bucket.name), \(max(full, now) + bucket.refill))
            ON CONFLICT (name) DO UPDATE SET full_at = excluded.full_at
            """)
        return nil
    }

    static func giveBack(_ bucket: Bucket, in db: any Transaction) throws {
        try db.execute(
            "UPDATE throttles SET full_at = full_at - \(bucket.refill.milliseconds) WHERE name = \(bucket.name)")
    }

    private static func fullAt(_ bucket: Bucket, in db: any Transaction) throws -> Timestamp {
        try db.rows("SELECT full_at FROM throttles WHERE name = \(bucket.name)").first?.get("full_at")
            ?? Timestamp(milliseconds: 0)
    }
}
