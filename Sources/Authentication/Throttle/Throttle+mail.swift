import Directory
import Storage
import Values

/// Limits mails that are sent on request. There are two kinds of buckets: the requester's IP address with its /48,
/// which is charged before any work is done, and the mailbox.
extension Throttle {
    private static func origin(_ address: String) -> [Bucket] {
        origin("mails from", address, burst: 30, refill: .minutes(2))
    }

    /// Each purpose has its own bucket: flooding a mailbox with codes does not block the link that sets a new password.
    private static func mailbox(
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
    private static func codes(
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
