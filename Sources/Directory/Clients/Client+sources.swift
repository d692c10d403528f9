import JSON
import Storage

extension Client {
    /// Refuses a source of exchange codes (`SPiDSettings.publicExchangeCodesFrom`) that is no client of this one's
    /// merchant. `former` is the client before the change: what it had may stay, also when it was deleted since.
    func confirmSources(after former: Client?, in db: any Transaction) throws {
        let kept = former?.spid.publicExchangeCodesFrom ?? []
        for source in spid.publicExchangeCodesFrom where !kept.contains(source) {
            let found = try db.rows("SELECT id FROM clients WHERE id = \(source) AND merchant_id = \(merchant)")
            guard !found.isEmpty else {
                throw JSONFault("public_exchange_codes_from", "ids of clients of its merchant")
            }
        }
    }
}
