import Directory
import Storage
import Values

/// Limits password guesses, without a way to lock users out at their known devices and addresses.
///
/// The buckets (generic cell rate algorithm: one stored time each) are the pair of user and address, the address, and
/// the user. An IPv6 address counts as its /64 and, with four times the limit, as its /48, which one attacker may well
/// have. An attempt is charged before the password is checked, so that parallel attempts gain nothing. A refused
/// attempt changes nothing, so hammering does not prolong the wait.
///
/// For a user under attack from many addresses, each new address gets a few attempts, and all of them together a
/// hundred (NIST SP 800-63B §3.2.2). At an address or in a browser where the user signed in before, only two things
/// count: the pair, and all known browsers together. An attack from elsewhere has no effect there; a known browser also
/// withstands one from its own address. Anywhere else a code by mail or a new password still lets the user in.
enum Throttle {
    struct Attempt: Sendable {
        let user: String
        let address: String
        /// Set when the user has signed in from here before.
        let known: Known?
        /// The client that authenticated with its secret.
        var intermediary: Intermediary?

        enum Known: Sendable {
            case address
            case device(Fingerprint<KnownDevices.Place>)
        }

        var isKnown: Bool { known != nil }
    }

    struct Bucket: Sendable {
        let name: Fingerprint<Bucket>
        /// What it counts, for the log: the beginning of its name, which names no user and no address.
        let kind: String
        let burst: Int64
        let refill: Duration
        /// The most that this bucket ever takes, where `burst` varies.
        let largestBurst: Int64
        /// How much one charge takes.
        let cost: Int64

        init(_ name: String, burst: Int64, refill: Duration, largestBurst: Int64? = nil, cost: Int64 = 1) {
            self.name = Fingerprint(of: name)
            kind = String(name.prefix { $0 != "|" }).replacing(" ", with: "_")
            self.burst = burst
            self.refill = refill
            self.largestBurst = largestBurst ?? burst
            self.cost = cost
        }

        /// How long until the bucket has room for one more charge of this size.
        var refillOfCharge: Duration { .milliseconds(refill.milliseconds * cost) }

        /// The latest time that charges until `now` can have led to. A later one was stored before the clock was set
        /// back.
        func latestFullAt(at now: Timestamp) -> Timestamp { now + .milliseconds(refill.milliseconds * largestBurst) }

        /// How long until one more charge fits; zero or less when it fits now.
        func wait(fullAt: Timestamp, at now: Timestamp) -> Duration {
            max(fullAt, now) + refillOfCharge - now - .milliseconds(refill.milliseconds * burst)
        }
    }

    /// The buckets of an address: its own, and that of its /48.
    static func origin(
        _ name: String, _ address: String, burst: Int64, refill: Duration, largestBurst: Int64? = nil
    ) -> [Bucket] {
        let own = Bucket("\(name)|\(address)", burst: burst, refill: refill, largestBurst: largestBurst)
        guard let site = IPAddress.site(of: address) else { return [own] }
        let wide = Bucket(
            "\(name)|\(site)", burst: burst * 4, refill: .milliseconds(refill.milliseconds / 4),
            largestBurst: largestBurst.map { $0 * 4 })
        return [own, wide]
    }

    static func pair(_ attempt: Attempt, underAttack: Bool) -> [Bucket] {
        let (name, burst): (String, Int64) = ("pair|\(attempt.user)", underAttack ? 3 : 10)
        guard case .device(let mark) = attempt.known else {
            let buckets = origin(name, attempt.address, burst: burst, refill: .seconds(30), largestBurst: 10)
            // Other attempts in the same /48 do not affect a known address.
            return attempt.isKnown ? Array(buckets.prefix(1)) : buckets
        }
        return [
            Bucket("\(name)|device \(mark.text)", burst: burst, refill: .seconds(30), largestBurst: 10),
            devices(attempt),
        ]
    }
    /// What one address takes of a user's attempts in the long run. Far less than all unknown places have together
    /// (`everywhere`), or one attacker would lock the user out everywhere else.
    static func pairForLong(_ attempt: Attempt) -> [Bucket] {
        origin("pair for long|\(attempt.user)", attempt.address, burst: 30, refill: .minutes(30))
    }
    /// All attempts in known browsers together: more browsers give more guesses at once, but no more in the long run.
    /// One browser cannot fill it.
    static func devices(_ attempt: Attempt) -> Bucket {
        Bucket("devices|\(attempt.user)", burst: 100, refill: .seconds(30))
    }
    static func address(_ attempt: Attempt) -> [Bucket] {
        origin("address", attempt.address, burst: 60, refill: .seconds(5))
    }
    /// Replaces the address of a backend when that is full: made-up names at a site's own form must not lock out its
    /// users. Counted per merchant, which can make as many clients as it likes.
    private static func backend(_ merchant: String) -> Bucket {
        Bucket("backend|\(merchant)", burst: 600, refill: .seconds(1))
    }
    /// All attempts by way of `intermediary` where the user signed in before.
    static func forms(of intermediary: Intermediary, _ attempt: Attempt) -> Bucket {
        Bucket("backends|\(attempt.user)|\(intermediary.share)", burst: 100, refill: .seconds(300))
    }
    /// When it is full, the user is under attack.
    static func user(_ attempt: Attempt) -> Bucket {
        Bucket("account|\(attempt.user)", burst: 30, refill: .seconds(60))
    }
    /// All attempts by unknown devices and addresses together.
    static func everywhere(_ attempt: Attempt) -> Bucket {
        Bucket("everywhere|\(attempt.user)", burst: 100, refill: .seconds(300))
    }

    /// The buckets that an attempt was charged to, the narrowest first.
    struct Charge: Sendable {
        fileprivate let buckets: [Bucket]
    }

    enum Outcome: Sendable {
        case charged(Charge)
        /// Nothing was charged: how long to wait, and for which bucket.
        case wait(Duration, Bucket)
    }

    /// Charges one attempt, unless it has to wait.
    static func charge(_ attempt: Attempt, at now: Timestamp, in db: any Transaction) throws -> Outcome {
        guard !attempt.isKnown else {
            let pair = pair(attempt, underAttack: false)
            let together = attempt.intermediary.map { [forms(of: $0, attempt)] } ?? []
            return try charge(pair + together, at: now, in: db)
        }
        let user = user(attempt)
        let underAttack = try wait(for: user, at: now, in: db) != nil
        // While the user is under attack, their bucket is full and takes no more attempts.
        let ofUser = [everywhere(attempt)] + (underAttack ? [] : [user])
        let pair = pair(attempt, underAttack: underAttack)
        let ofPair = pair + pairForLong(attempt)
        let outcome = try charge(ofPair + address(attempt) + ofUser, at: now, in: db)
        guard case .wait = outcome, let backend = attempt.intermediary, backend.answersForItself else { return outcome }
        return try charge(ofPair + [self.backend(backend.share)] + ofUser, at: now, in: db)
    }

    private static func charge(_ buckets: [Bucket], at now: Timestamp, in db: any Transaction) throws -> Outcome {
        if let longest = try longestWait(for: buckets, at: now, in: db) {
            return .wait(longest.wait, longest.bucket)
        }
        for bucket in buckets { _ = try take(bucket, at: now, in: db) }
        return .charged(Charge(buckets: buckets))
    }

    /// Refunds `charge`, as far as it was charged: the password was right, or was not checked.
    static func refund(_ charge: Charge, succeeded: Bool, in db: any Transaction) throws {
        for (index, bucket) in charge.buckets.enumerated() {
            if succeeded, index == 0 {
                try db.execute("DELETE FROM throttles WHERE name = \(bucket.name)")
            } else {
                try giveBack(bucket, in: db)
            }
        }
    }

    /// Charges all `buckets`, or charges none and returns the longest wait.
    static func take(all buckets: [Bucket], at now: Timestamp, in db: any Transaction) throws -> Duration? {
        guard case .wait(let wait, _) = try charge(buckets, at: now, in: db) else { return nil }
        return wait
    }

    /// The longest wait for one of `buckets`; nil when all have room.
    private static func longestWait(
        for buckets: [Bucket], at now: Timestamp, in db: any Transaction
    ) throws -> (wait: Duration, bucket: Bucket)? {
        let waits = try buckets.map { (wait: $0.wait(fullAt: try fullAt($0, at: now, in: db), at: now), bucket: $0) }
        return waits.max { $0.wait < $1.wait }.flatMap { $0.wait > .zero ? $0 : nil }
    }

    /// How long until `bucket` takes one more, without charging; nil when it does now.
    static func wait(for bucket: Bucket, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        let wait = bucket.wait(fullAt: try fullAt(bucket, at: now, in: db), at: now)
        return wait > .zero ? wait : nil
    }

    static func take(_ bucket: Bucket, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        let full = try fullAt(bucket, at: now, in: db)
        let wait = bucket.wait(fullAt: full, at: now)
        guard wait <= .zero else { return wait }
        try db.execute(
            """
            INSERT INTO throttles (name, theoretical_arrival)
            VALUES (\(bucket.name), \(max(full, now) + bucket.refillOfCharge))
            ON CONFLICT (name) DO UPDATE SET theoretical_arrival = excluded.theoretical_arrival
            """)
        return nil
    }

    /// Charges `bucket`, or throws how long to wait.
    static func require(_ bucket: Bucket, at now: Timestamp, in db: any Transaction) throws {
        guard let wait = try take(bucket, at: now, in: db) else { return }
        throw PasswordSignIn.Refusal.throttled(wait, bucket: bucket.kind)
    }

    static func giveBack(_ bucket: Bucket, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE throttles SET theoretical_arrival = theoretical_arrival - \(bucket.refillOfCharge.milliseconds)
            WHERE name = \(bucket.name)
            """)
    }

    /// How far the clocks of two nodes may differ. A stored time is not corrected for less: otherwise attempts at two
    /// nodes in turn would empty a full bucket.
    private static let skew: Duration = .minutes(5)

    /// The stored time. If the clock was set back, the bucket counts as full from now on, and is stored so: otherwise
    /// users would have to wait until the old time comes again.
    private static func fullAt(_ bucket: Bucket, at now: Timestamp, in db: any Transaction) throws -> Timestamp {
        let row = try db.rows("SELECT theoretical_arrival FROM throttles WHERE name = \(bucket.name)").first
        guard let row else { return Timestamp(milliseconds: 0) }
        let (stored, latest): (Timestamp, Timestamp) = (
            try row.get("theoretical_arrival"), bucket.latestFullAt(at: now)
        )
        guard stored > latest + skew else { return stored }
        try db.execute("UPDATE throttles SET theoretical_arrival = \(latest) WHERE name = \(bucket.name)")
        return latest
    }
}

/// Limits how often users are changed: every change is told to all clients that know the user.
extension Throttle {
    /// Charges a change of `user` by the user, or throws how long to wait without charging it.
    static func chargeOwnChange(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Bucket("own changes|\(user)", burst: 20, refill: .seconds(30))
        try require(bucket, at: now, in: db)
    }

    /// As above for a new password set in `session`. A user who proved the former password is charged as the user, in
    /// any session. Otherwise the session is charged, so that a copied cookie of another session cannot use up the
    /// change that ends it.
    static func chargeOwnPassword(
        in session: Session, isProved: Bool, at now: Timestamp, in db: any Transaction
    ) throws {
        let setter = isProved ? "\(session.user)" : "\(session.user)|\(session.id)"
        let bucket = Bucket("own passwords|\(setter)", burst: 20, refill: .seconds(30))
        try require(bucket, at: now, in: db)
    }

    /// Charges a request of `user` for deletion. Each ends and tells as much as a new password, and sends a mail; a
    /// user can cancel at any time and ask again.
    static func chargeDeletion(of user: UserID, at now: Timestamp, in db: any Transaction) throws {
        let bucket = Bucket("deletions|\(user)", burst: 5, refill: .hours(1))
        try require(bucket, at: now, in: db)
    }

    /// As above for a change of `user` by a client or an administrator of `merchant`, which leaves the shares of the
    /// user and of other merchants alone.
    static func chargeChange(
        of user: UserID, by merchant: Merchant.ID?, at now: Timestamp, in db: any Transaction
    ) throws {
        let bucket = Bucket("changes by|\(merchant?.text ?? "")|\(user)", burst: 20, refill: .seconds(30))
        try require(bucket, at: now, in: db)
    }
}

/// Limits the users that clients and administrators make.
extension Throttle {
    /// A backend signs up many users from one IP address, so the client is charged instead.
    static func chargeSignUp(by client: Client, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(all: signUps(by: client), at: now, in: db)
    }

    /// Refunds that charge.
    static func refundSignUp(by client: Client, in db: any Transaction) throws {
        for bucket in signUps(by: client) { try giveBack(bucket, in: db) }
    }

    /// The same for a user that an administrator of `merchant` makes, without a mail.
    static func chargeUser(by merchant: Merchant.ID, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(users(by: merchant), at: now, in: db)
    }

    private static func signUps(by client: Client) -> [Bucket] {
        var buckets = [Bucket("sign-ups by|\(client.id)", burst: 600, refill: .seconds(6))]
        // A merchant can make as many clients as it likes.
        if let merchant = client.merchant { buckets.append(users(by: merchant)) }
        return buckets
    }

    private static func users(by merchant: Merchant.ID) -> Bucket {
        Bucket("users by|\(merchant)", burst: 3000, refill: .seconds(1))
    }
}

/// Limits text messages that are sent on request. Each costs the operator money, so the limits are lower than for
/// mails.
extension Throttle {
    /// Charges what `address`, if given, and a signed-in user ask for, or returns how long to wait without charging.
    static func chargeAsking(
        of verification: Verification, from address: String?, at now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        guard verification.phone != nil else {
            return try address.flatMap { try chargeAsking(from: $0, at: now, in: db) }
        }
        var buckets = address.map { origin("texts from", $0, burst: 10, refill: .minutes(6)) } ?? []
        // Signing up many users gives many shares, so each user has only a few numbers to try.
        if verification.purpose == .verifyPhone, let user = verification.user {
            buckets.append(Bucket("texts of|\(user)", burst: 5, refill: .hours(1)))
        }
        return try take(all: buckets, at: now, in: db)
    }

    /// A backend asks for users whose addresses are not seen here, so it is charged, together with its merchant for all
    /// its clients. A leaked secret uses up only half for the others.
    static func chargeText(
        by client: Client.ID, of merchant: Merchant.ID, at now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        let buckets = [
            Bucket("texts by client|\(client)", burst: 30, refill: .minutes(2)),
            Bucket("texts by|\(merchant)", burst: 60, refill: .minutes(1)),
        ]
        return try take(all: buckets, at: now, in: db)
    }

    /// Each purpose has its own bucket, as mails have.
    static func number(_ phone: PhoneNumber, _ purpose: Verification.Purpose, share: String) -> Bucket {
        Bucket("texts to|\(purpose.rawValue)|\(phone.text)\(share)", burst: 5, refill: .minutes(12))
    }
}

/// Limits mails that are sent on request. There are two kinds of buckets: the requester's IP address with its /48,
/// which is charged before any work is done, and the mailbox.
extension Throttle {
    private static func origin(_ address: String) -> [Bucket] {
        origin("mails from", address, burst: 30, refill: .minutes(2))
    }

    /// Each purpose has its own bucket: flooding a mailbox with codes does not block the link that sets a new password.
    static func mailbox(
        _ recipient: EmailAddress, _ purpose: Verification.Purpose, share: String = ""
    ) -> Bucket {
        Bucket("mails to|\(purpose.rawValue)|\(recipient.text)\(share)", burst: 5, refill: .minutes(12))
    }

    /// Charges one mail that `address` asked for, or returns how long to wait without charging it.
    static func chargeAsking(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(all: origin(address), at: now, in: db)
    }

    /// Refunds that charge: no work was done for it.
    static func refundAsking(from address: String, in db: any Transaction) throws {
        for bucket in origin(address) { try giveBack(bucket, in: db) }
    }

    /// Charges one mail to `recipient`. False when the mailbox got too many recently. The requester is not told,
    /// because that would reveal something about the mailbox.
    static func chargeMailbox(
        _ recipient: EmailAddress, for purpose: Verification.Purpose, _ now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        try take(mailbox(recipient, purpose), at: now, in: db) == nil
    }

    /// Charges one mail or text message to the recipient of `verification`, asked for at `place` or by `backend`. False
    /// when too much went there recently, and the user has no reserve there or has used it up.
    static func chargeRecipient(
        of verification: Verification, at place: KnownDevices.Place?, by backend: Client?, _ now: Timestamp,
        in db: any Transaction
    ) throws -> Bool {
        let share = try share(of: verification, at: place, for: backend, in: db)
        let bucket: Bucket
        if let phone = verification.phone {
            bucket = number(phone, verification.purpose, share: share)
        } else if let recipient = EmailAddress(verification.email) {
            bucket = mailbox(recipient, verification.purpose, share: share)
        } else {
            return false
        }
        if try take(bucket, at: now, in: db) == nil { return true }
        let reserves = try reserves(of: verification, in: db)
        return try !reserves.isEmpty && take(all: reserves, at: now, in: db) == nil
    }

    /// A reserve that requests by others leave to a user who moves to an address or number. It allows two messages
    /// while the user's current address is verified, and thirty for all such users together, so that the total stays
    /// limited. Using up thirty takes fifteen users, each with a verified address.
    private static func reserves(of verification: Verification, in db: any Transaction) throws -> [Bucket] {
        let (purpose, recipient) = (verification.purpose, verification.recipient)
        guard [.changeEmail, .verifyPhone].contains(purpose), let user = verification.user,
            try User.find(user, in: db)?.emailVerified == true
        else { return [] }
        return [
            Bucket("reserve of|\(user)|\(purpose.rawValue)|\(recipient)", burst: 2, refill: .hours(4)),
            Bucket("reserve of all|\(purpose.rawValue)|\(recipient)", burst: 30, refill: .minutes(10)),
        ]
    }

    /// Shares that requests from elsewhere cannot use up. A browser in which the recipient signed in before has its
    /// own. So has a known address, because apps have no cookie, and a merchant's first-party backends together where
    /// the recipient uses its apps. Everything else shares one.
    private static func share(
        of verification: Verification, at place: KnownDevices.Place?, for backend: Client?, in db: any Transaction
    ) throws -> String {
        if let mark = place?.deviceMark, try KnownDevices.knows(mark, ofReaderOf: verification, in: db) {
            return "|device \(mark.text)"
        }
        if let mark = place?.addressMark, try KnownDevices.knows(mark, ofReaderOf: verification, in: db) {
            return "|address \(mark.text)"
        }
        if let backend, backend.may(.shareWithMerchant), let merchant = backend.merchant, let user = verification.user,
            try Connections.hasAny(user, around: backend, in: db)
        {
            return "|merchant \(merchant)"
        }
        return ""
    }

    /// Counts wrong codes for one recipient, in any browser and over any number of mails. One count is for signing in,
    /// except at known devices and addresses. Another is for changing to an address or a number: otherwise many users
    /// together could try any number of codes for it. Nil where codes are not counted together.
    /// - Parameter intermediary: whose form they are typed in, where the user is known. They count apart, so that
    ///   neither uses up the others'.
    static func codes(
        _ purpose: Verification.Purpose, to recipient: String, at intermediary: Intermediary?
    ) -> Bucket? {
        let place = intermediary.map { "codes at backends|\($0.share)|" } ?? "codes|"
        return switch purpose {
        case .signIn, .signInByPhone: Bucket(place + recipient, burst: 15, refill: .minutes(30))
        case .changeEmail, .verifyPhone: Bucket("codes to move to|\(recipient)", burst: 100, refill: .minutes(5))
        default: nil
        }
    }

    /// How long to wait before a code that went to `recipient` may be tried.
    static func waitForCode(
        _ purpose: Verification.Purpose, to recipient: String, at intermediary: Intermediary? = nil,
        _ now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        try codes(purpose, to: recipient, at: intermediary).flatMap { try wait(for: $0, at: now, in: db) }
    }

    /// Charges a wrong code.
    static func chargeWrongCode(
        _ purpose: Verification.Purpose, to recipient: String, at intermediary: Intermediary? = nil,
        _ now: Timestamp, in db: any Transaction
    ) throws {
        if let bucket = codes(purpose, to: recipient, at: intermediary) { _ = try take(bucket, at: now, in: db) }
    }
}
