import Directory
import Storage

extension Verifications {
    /// Deletes all verifications of an address, in the caller's transaction: its user is being deleted.
    static func forget(email: String, in db: any Transaction) throws {
        try db.execute("DELETE FROM verifications WHERE email = \(email)")
    }

    /// The same for those of a phone number.
    static func forget(phone: PhoneNumber, in db: any Transaction) throws {
        try db.execute("DELETE FROM verifications WHERE phone = \(phone)")
    }
}
