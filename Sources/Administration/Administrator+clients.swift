public import Directory
import JSON
import OAuth

extension Administrator {
    /// The merchant of a new client: `named`, or the administrator's own. Only a client with the scope admin belongs to
    /// no merchant, and only the platform creates one.
    public func merchant(
        named: Merchant.ID?, ofNew metadata: ClientMetadata, among merchants: Merchants
    ) async throws -> Merchant.ID? {
        if let own = confines {
            guard named == nil || named == own else {
                throw AdministrationRefusal("You may make clients of your own merchant only.", member: "merchant_id")
            }
            return own
        }
        guard let named else {
            guard metadata.asksForAdministration else { throw JSONFault("merchant_id", "given") }
            return nil
        }
        guard !metadata.asksForAdministration else { throw JSONFault.platformScopeOfMerchant }
        guard try await merchants.find(named) != nil else {
            throw JSONFault("merchant_id", "an existing merchant's id")
        }
        return named
    }

    /// As whom it makes and changes clients.
    public var clientAuthor: ClientAuthor { confines == nil ? .platform : .merchant }
}
