import JSON
import Storage

extension Client {
    /// The clients whose tokens buy exchange codes for this client; nil for a backend, which takes those of all its
    /// merchant's clients. A copy of an app contains its secret, so an app takes only the clients it names, and itself
    /// where a server shares its id and secret, as behind SPiD's apps. Tokens from these codes outlive the
    /// app's sign-out, as a backend's tokens do (docs/decisions/what-spid-clients-may.md).
    package var exchangeCodeSources: [ID]? {
        guard !may(.takeCodesOfAnyClient) else { return nil }
        let hasServer = may(.takeCodesOfItself) && redirectURIs.contains { $0.secureHost != nil }
        return spid.publicExchangeCodesFrom + (hasServer ? [id] : [])
    }

    /// Refuses a source of exchange codes (`SPiDSettings.publicExchangeCodesFrom`) that is no client of the same
    /// merchant. `former` is the client before the change: sources it already had may stay, even when deleted since.
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
