import Storage

extension Verifications {
    /// Deletes all verifications of an address, in the caller's transaction: its user is being deleted.
    static func forget(email: String, in db: any Transaction) throws {
        try db.execute("DELETE FROM verifications WHERE email = \(email)")
    }
}
