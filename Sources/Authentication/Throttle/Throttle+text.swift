import Directory
import Storage
import Values

/// Limits text messages that are sent on request. Each costs the operator money, so whoever asks has fewer of them than
/// of mails.
extension Throttle {
    /// Charges what `address`, if one is given, and a signed-in user ask for, or returns how long to wait without
    /// charging it.
    static func chargeAsking(
        of verification: Verification, from address: String?, at now: Timestamp, in db: any Transaction
    ) throws -> Duration? {
        guard verification.phone != nil else {
            return try address.flatMap { try chargeAsking(from: $0, at: now, in: db) }
        }
        var buckets = address.map { origin("texts from", $0, burst: 10, refill: .minutes(6)) } ?? []
        // Whoever signed up under many names has many addresses' shares, but each name has few numbers to try.
        if verification.purpose == .verifyPhone, let user = verification.user {
            buckets.append(Bucket("texts of|\(user)", burst: 5, refill: .hours(1)))
        }
        return try take(all: buckets, at: now, in: db)
    }

    /// A backend asks for users whose addresses are not seen here, so its merchant is charged, however many clients it
    /// has.
    static func chargeText(by merchant: Merchant.ID, at now: Timestamp, in db: any Transaction) throws -> Duration? {
        try take(Bucket("texts by|\(merchant)", burst: 60, refill: .minutes(1)), at: now, in: db)
    }

    /// Charges one mail or text message to where the secret of `verification` goes. False when too much went there
    /// recently.
    static func chargeRecipient(
        of verification: Verification, at place: KnownDevices.Place, _ now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        let purpose = verification.purpose
        guard let phone = verification.phone else {
            return try EmailAddress(verification.email).map { recipient in
                try chargeMailbox(recipient, for: purpose, at: place, now, in: db)
            } ?? false
        }
        return try take(number(phone, purpose, at: place, in: db), at: now, in: db) == nil
    }

    /// Each purpose has its own bucket, as mails have. Where the number's user signed in before there is another, which
    /// strangers cannot use up: apps have no cookie, so it is the address that is recognized.
    private static func number(
        _ phone: PhoneNumber, _ purpose: Verification.Purpose, at place: KnownDevices.Place, in db: any Transaction
    ) throws -> Bucket {
        let isKnown = try KnownDevices.knows(place.addressMark, ofReader: phone, in: db)
        let known = isKnown ? "|address \(place.addressMark.text)" : ""
        return Bucket("texts to|\(purpose.rawValue)|\(phone.text)\(known)", burst: 5, refill: .minutes(12))
    }
}
