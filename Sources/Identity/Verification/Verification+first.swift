import Storage

extension Verification {
    /// Whether this is the first that shows the account's address to be read by whoever owns it. Asked in the
    /// transaction that writes it down.
    func isFirstWord(in db: any Transaction) throws -> Bool {
        guard let account else { return false }
        return try !db.rows("SELECT id FROM accounts WHERE id = \(account) AND email_verified = 0").isEmpty
    }
}
