import JSON
import Storage

extension Client {
    /// The clients whose tokens buy exchange codes for it; nil for a backend, for which those of all its merchant's
    /// clients do. A copy of an app holds its secret, so for an app only those count that it names, and its own where a
    /// server has the same id and secret, as behind SPiD's apps. What such a code gives outlives the app's sign-out, as
    /// a backend's tokens do (docs/decisions/what-spid-clients-may.md).
    package var exchangeCodeSources: [ID]? {
        guard !may(.takeCodesOfAnyClient) else { return nil }
        let hasServer = may(.takeCodesOfItself) && redirectURIs.contains { $0.secureHost != nil }
        return spid.publicExchangeCodesFrom + (hasServer ? [id] : [])
    }

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
