import Audit
public import Cryptography
public import Directory
import JSON
public import Storage
public import Values

/// What limits the sign-ins of a user and the mails and text messages to them, for administration.
///
/// Rows of `throttles` are named by fingerprints. So the names that a user can have are made from what is known of the
/// user: addresses, browsers, places of recent attempts, and clients.
public struct UserThrottles: Sendable {
    private let database: any Database
    private let clock: any WallClock
    private let random: any RandomSource

    public init(database: any Database, clock: any WallClock, random: any RandomSource) {
        self.database = database
        self.clock = clock
        self.random = random
    }

    /// What a limit counts.
    public enum Kind: String, Sendable, CaseIterable {
        /// Wrong passwords of the user: when it is full, the user counts as under attack.
        case user
        case unknownPlaces = "unknown_places"
        case knownBrowsers = "known_browsers"
        /// At one address.
        case address
        /// In one browser that the user signed in with before.
        case browser
        /// At a merchant's own forms.
        case forms
        case codes, mails, texts
    }

    /// A limit that has been used.
    public struct Item: Sendable {
        /// Its name in the table, which tells nothing.
        public let id: String
        public let kind: Kind
        public let address: String?
        public let merchant: Merchant.ID?
        /// How long until one more attempt is let through; zero if one is.
        public let wait: Duration
        /// When it will be as unused.
        public let until: Timestamp
    }

    /// The used limits of `user`, or only those that concern `merchant` alone.
    public func list(of user: UserID, at merchant: Merchant.ID? = nil) async throws -> [Item] {
        let now = clock.now
        return try await database.read { db in try Self.items(of: user, at: merchant, now, in: db) }
    }

    /// Lifts the limit `id`, or all, of `user`, or only those that concern `merchant` alone. Returns how many were in
    /// use. Throws `PasswordSignIn.Refusal.throttled` where support (`isLimited`) did so often.
    public func lift(
        _ id: String? = nil, of user: UserID, at merchant: Merchant.ID? = nil, isLimited: Bool,
        by authority: some Authority
    ) async throws -> Int {
        let now = clock.now
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        return try await database.write { db in
            try authority.confirm(in: db)
            let names = try Self.items(of: user, at: merchant, now, in: db).map(\.id).filter { id == nil || $0 == id }
            guard !names.isEmpty else { return 0 }
            if isLimited { try SupportThrottle.chargeUnlock(of: user, at: now, in: db) }
            let count = try db.execute("DELETE FROM throttles WHERE name IN (\(list: names))")
            try trail.record(
                "throttle.lifted", on: .user(user), after: .members(["count": .integer(Int64(count))]), in: db)
            return count
        }
    }

    private struct Candidate {
        let kind: Kind
        let bucket: Throttle.Bucket
        var address: String?
        var share: String?

        init(_ kind: Kind, _ bucket: Throttle.Bucket, address: String? = nil, share: String? = nil) {
            self.kind = kind
            self.bucket = bucket
            self.address = address
            self.share = share
        }
    }

    private static func items(
        of id: UserID, at merchant: Merchant.ID?, _ now: Timestamp, in db: any Transaction
    ) throws -> [Item] {
        guard let user = try User.find(id, in: db) else { return [] }
        let candidates = try candidates(of: user, at: merchant, in: db)
        let byName = Dictionary(candidates.map { ($0.bucket.name.text, $0) }) { first, _ in first }
        let names = byName.keys.sorted()
        var found: [Item] = []
        for start in stride(from: 0, to: names.count, by: 500) {
            let some = Array(names[start..<min(start + 500, names.count)])
            for row in try db.rows(
                """
                SELECT name, theoretical_arrival FROM throttles
                WHERE name IN (\(list: some)) AND theoretical_arrival > \(now)
                """)
            {
                let name: String = try row.get("name")
                guard let candidate = byName[name] else { continue }
                let until: Timestamp = try row.get("theoretical_arrival")
                found.append(
                    Item(
                        id: name, kind: candidate.kind, address: candidate.address,
                        merchant: candidate.share.map { Merchant.ID($0) },
                        wait: max(candidate.bucket.wait(fullAt: until, at: now), .zero), until: until))
            }
        }
        return found
    }

    /// How many places and browsers are looked at: an attacker may have made more.
    private static let most = 50

    private static func candidates(
        of user: User, at merchant: Merchant.ID?, in db: any Transaction
    ) throws -> [Candidate] {
        let clients = try Clients.known(
            among: try db.rows("SELECT client_id FROM connections WHERE user_id = \(user.id) LIMIT 1000").map {
                try $0.get("client_id")
            }, in: db
        ).values.filter { merchant == nil || Merchant.same(merchant, $0.merchant) }
        let forwarders = clients.compactMap { client in Intermediary(client).map { (client, $0) } }
        let merchants = Set(clients.filter { $0.may(.shareWithMerchant) }.compactMap(\.merchant))
        var all: [Candidate] = []
        let recipients = [user.email, user.verifiedPhone?.text].compactMap(\.self)
        for recipient in recipients {
            let attempt = Throttle.Attempt(user: recipient, address: "", known: nil)
            for (client, forwarder) in forwarders {
                let share = client.merchant?.text
                all.append(Candidate(.forms, Throttle.forms(of: forwarder, attempt), share: share))
                for purpose in [Verification.Purpose.signIn, .signInByPhone] {
                    if let bucket = Throttle.codes(purpose, to: recipient, at: forwarder) {
                        all.append(Candidate(.codes, bucket, share: share))
                    }
                }
            }
        }
        for merchant in merchants { all += messages(to: user, share: "|merchant \(merchant)", of: merchant) }
        // The rest counts at every merchant.
        guard merchant == nil else { return all }
        let places = try addresses(of: user.id, in: db)
        let marks = try marks(of: user.id, in: db)
        for recipient in recipients {
            let attempt = Throttle.Attempt(user: recipient, address: "", known: nil)
            all += [
                Candidate(.user, Throttle.user(attempt)), Candidate(.unknownPlaces, Throttle.everywhere(attempt)),
                Candidate(.knownBrowsers, Throttle.devices(attempt)),
            ]
            for address in places {
                let there = Throttle.Attempt(user: recipient, address: address, known: nil)
                all += (Throttle.pair(there, underAttack: false) + Throttle.pairForLong(there)).map {
                    Candidate(.address, $0, address: address)
                }
            }
            for mark in marks {
                let there = Throttle.Attempt(user: recipient, address: "", known: .device(mark))
                all += Throttle.pair(there, underAttack: false).prefix(1).map { Candidate(.browser, $0) }
            }
            for purpose in [Verification.Purpose.signIn, .signInByPhone, .changeEmail] {
                if let bucket = Throttle.codes(purpose, to: recipient, at: nil) {
                    all.append(Candidate(.codes, bucket))
                }
            }
        }
        for share in [""] + marks.flatMap({ ["|device \($0.text)", "|address \($0.text)"] }) {
            all += messages(to: user, share: share, of: nil)
        }
        return all
    }

    /// The limits of messages that the user, or another in their name, asks for.
    private static func messages(to user: User, share: String, of merchant: Merchant.ID?) -> [Candidate] {
        let mails = user.email.flatMap { EmailAddress($0) }.map { email in
            Verification.Purpose.allCases.map {
                Candidate(.mails, Throttle.mailbox(email, $0, share: share), share: merchant?.text)
            }
        }
        let texts = user.verifiedPhone.map { phone in
            [Verification.Purpose.signInByPhone, .verifyPhone].map {
                Candidate(.texts, Throttle.number(phone, $0, share: share), share: merchant?.text)
            }
        }
        return (mails ?? []) + (texts ?? [])
    }

    /// The addresses of the latest attempts.
    private static func addresses(of user: UserID, in db: any Transaction) throws -> [String] {
        var seen: Set<String> = []
        let rows = try db.rows(
            """
            SELECT ip_address FROM logins WHERE user_id = \(user) ORDER BY created_at DESC, id DESC LIMIT 1000
            """)
        return try rows.map { try $0.get("ip_address") }.filter { seen.insert($0).inserted }.prefix(most).map(\.self)
    }

    private static func marks(
        of user: UserID, in db: any Transaction
    ) throws -> [Fingerprint<KnownDevices.Place>] {
        try db.rows(
            "SELECT fingerprint FROM known_devices WHERE user_id = \(user) ORDER BY seen_at DESC LIMIT \(most)"
        ).map { try $0.get("fingerprint") }
    }
}
