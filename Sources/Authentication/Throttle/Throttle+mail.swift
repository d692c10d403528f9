import Directory
import Storage
import Values

/// Limits mails that are sent on request. Two kinds of buckets: the requester's IP address with its /48, which is
/// charged before any work is done, and the mailbox.
extension Throttle {
    private static func origin(_ address: String) -> [Bucket] {
        origin("mails from", address, burst: 30, refill: .minutes(2))
    }

    /// Each purpose has its own bucket: flooding a mailbox with codes does not block the link that sets a new password.
    /// A browser in which the user signed in before has one too, which strangers cannot use up.
    private static func mailbox(
        _ recipient: EmailAddress, _ purpose: Verification.Purpose, at device: Fingerprint<KnownDevices.Place>?
    ) -> Bucket {
        let place = device.map { "|device \($0.text)" } ?? ""
        return Bucket("mails to|\(purpose.rawValue)|\(recipient.text)\(place)", burst: 5, refill: .minutes(12))
    }

    /// Charges one mail that `address` asked for, or returns how long to wait without charging it.
    static func chargeAsking(from address: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(all: origin(address), at: now, in: db)
    }

    /// Takes that charge back: no work was done for it.
    static func refundAsking(from address: String, in db: any Transaction) throws {
        for bucket in origin(address) { try giveBack(bucket, in: db) }
    }

    /// Charges one mail to `recipient`, asked for at `place`. False when the mailbox got too many recently. The
    /// requester is not told, because that would reveal something about the mailbox.
    static func chargeMailbox(
        _ recipient: EmailAddress, for purpose: Verification.Purpose, at place: KnownDevices.Place? = nil,
        _ now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        var device: Fingerprint<KnownDevices.Place>?
        if let mark = place?.deviceMark, try KnownDevices.knows(mark, ofReader: recipient, in: db) { device = mark }
        return try take(mailbox(recipient, purpose, at: device), at: now, in: db) == nil
    }

    /// Wrong codes typed to sign in as one user, in any browser and for any number of mails, except at known devices
    /// and addresses.
    private static func codes(_ email: String) -> Bucket {
        Bucket("codes|\(email)", burst: 15, refill: .minutes(30))
    }

    /// How long unknown devices and addresses must wait before they may try a code for `email`.
    static func waitForCode(_ email: String, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try wait(for: codes(email), at: now, in: db)
    }

    /// Charges a wrong code.
    static func chargeWrongCode(_ email: String, at now: Timestamp, in db: any Transaction) throws {
        _ = try take(codes(email), at: now, in: db)
    }
}
