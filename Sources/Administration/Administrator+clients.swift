public import Directory
public import JSON
import OAuth
public import Storage

/// What a merchant's administrator may set for clients and for the merchant.
extension Administrator: ClientAuthority, MerchantAuthority {
    public var isClientItself: Bool { false }
    public var lendsResources: Bool { confines == nil }
    public var reservedNames: [String]? {
        if case .merchant(_, let access) = self { access.addresses.ownNames } else { nil }
    }

    /// The merchant of a new client: `named`, or the administrator's own. Only a client that administers belongs to no
    /// merchant, and only the platform creates one.
    public func merchant(
        named: Merchant.ID?, ofNew metadata: ClientMetadata, among merchants: Merchants
    ) async throws -> Merchant.ID? {
        try requireAdministrator()
        if let own = confines {
            guard named == nil || named == own else {
                throw AdministrationRefusal("You may make clients of your own merchant only.", member: "merchant_id")
            }
            return own
        }
        guard let named else {
            guard metadata.isForPlatform else { throw JSONFault("merchant_id", "given") }
            return nil
        }
        guard !metadata.isForPlatformAlone else { throw JSONFault.platformScopeOfMerchant }
        guard try await merchants.find(named) != nil else {
            throw JSONFault("merchant_id", "an existing merchant's id")
        }
        return named
    }

    public func permit(making client: Client, in db: any Transaction) throws {
        try requireAdministrator()
        guard case .merchant(let own, let access) = self else { return }
        try permit(granting: client.scope)
        try permit(serving: client.spid.sessionHosts)
        try access.addresses.refuseOwn(resources: client.openID.resources)
        if !client.openID.resources.isEmpty { try Self.confirmRoomForResources(of: own, in: db) }
        if client.callbackURI != nil { try Self.confirmRoomForCallback(of: own, in: db) }
        for (token, claims) in client.openID.claims {
            try Self.permit(giving: claims, as: token, to: client, insteadOf: [:])
        }
        try confirmRoomForClient(in: db)
    }

    /// Checks the client as it is in this transaction: what the platform has taken away stays taken.
    public func permit(changing client: Client, to changed: Client, by document: JSON, in db: any Transaction) throws {
        try requireAdministrator()
        if client.administersPlatform, !changed.administersPlatform { try confirmAnotherAdministrator(in: db) }
        guard case .merchant(let own, let access) = self else { return }
        try permit(granting: Scope(changed.scope.tokens.filter { !client.scope.contains($0) }))
        try permit(serving: changed.spid.sessionHosts.filter { !client.spid.sessionHosts.contains($0) })
        try permit(leaving: client.spid.sessionHosts.filter { !changed.spid.sessionHosts.contains($0) })
        try permit(enabling: client.disabledAt != nil && changed.disabledAt == nil)
        guard client.may(.belongToMerchant) || changed.may(.belongToMerchant) || Self.mayChange(document) else {
            throw AdministrationRefusal.ofSelfRegistered
        }
        let resources = changed.openID.resources.filter { !client.openID.resources.contains($0) }
        try access.addresses.refuseOwn(resources: resources)
        if !resources.isEmpty { try Self.confirmRoomForResources(of: own, in: db) }
        if changed.callbackURI != nil, client.callbackURI == nil { try Self.confirmRoomForCallback(of: own, in: db) }
        // If the document does not name them, they are dropped when the client becomes a third party's: only the
        // platform may do that.
        for token in OpenIDSettings.AttributeClaims.allCases {
            let former = client.openID.claims[token] ?? [:]
            let isNamed = try JSONMembers(document).has(token.rawValue)
            try Self.permit(
                giving: isNamed ? changed.openID.claims[token] ?? [:] : former, as: token, to: changed,
                insteadOf: client.may(.takeAttributes) ? [:] : former)
        }
        guard changed.may(.shareWithMerchant), !client.may(.shareWithMerchant) else { return }
        if !client.may(.belongToMerchant) { try confirmRoomForClient(in: db) }
        // They allowed a third party a few scopes, and have not met the merchant, which would see all of them.
        guard try !Connections.isUsed(client.id, in: db) && !Consents.areGiven(to: client.id, in: db) else {
            throw AdministrationRefusal(
                "Users have used this client as a third party's: make another one for the merchant's own app, or ask "
                    + "the platform.", member: "first_party", isConflict: true)
        }
    }

    public func permit(deleting client: Client, in db: any Transaction) throws {
        try requireAdministrator()
        if client.administersPlatform { try confirmAnotherAdministrator(besides: client.id, in: db) }
        try permit(leaving: client.spid.sessionHosts)
    }

    /// The users of a self-registered client consented to a third party, and have not met the merchant. With a secret
    /// or another address of the client, the merchant could act as that third party.
    public func permit(settingSecretsOf client: Client) throws {
        try requireAdministrator()
        guard confines == nil || client.may(.belongToMerchant) else { throw AdministrationRefusal.ofSelfRegistered }
    }

    public func permit(endingSecretOf client: Client, in db: any Transaction) throws {
        try permit(settingSecretsOf: client)
        if client.administersPlatform { try confirmAnotherAdministrator(in: db) }
    }

    /// Refuses what would leave no client, besides `client`, that can administer the platform. The command line can
    /// always make one.
    private func confirmAnotherAdministrator(besides client: Client.ID? = nil, in db: any Transaction) throws {
        guard access != nil, try !Clients.canAdministerPlatform(besides: client, in: db) else { return }
        throw AdministrationRefusal(
            "No other client could administer the platform: make another one with the scope admin first.",
            isConflict: true)
    }

    /// Whether a document changes only what a merchant may change of a self-registered client.
    private static func mayChange(_ document: JSON) -> Bool {
        (document.members ?? []).allSatisfy { ["disabled", "scope", "first_party"].contains($0.name) }
    }

    /// Only the platform grants admin scopes.
    private func permit(granting scope: Scope) throws {
        try leaveToPlatform(scope.administers, "Only the platform may grant admin scopes.", member: "scope")
    }

    /// A host needs a certificate and a name that lead to this server: both are the platform's to give.
    private func permit(serving hosts: [String]) throws {
        try leaveToPlatform(!hosts.isEmpty, "Only the platform may set session hosts.", member: "session_hosts")
    }

    /// A host that no client has any more answers as this server does, with pages to sign in.
    private func permit(leaving hosts: [String]) throws {
        try leaveToPlatform(
            !hosts.isEmpty, "Session hosts lead to this server: ask the platform to take them first.",
            member: "session_hosts")
    }

    private func confirmRoomForClient(in db: any Transaction) throws {
        try confirmRoom(for: "clients", atMost: Clients.mostOfMerchant, in: db, Clients.hasRoom)
    }

    private static func confirmRoomForCallback(of merchant: Merchant.ID, in db: any Transaction) throws {
        guard try Clients.hasRoomForCallback(merchant, in: db) else {
            throw JSONFault(
                "callback_uri",
                "left out: \(Clients.mostToldOfMerchant) of your clients have one, and only the platform can add "
                    + "more")
        }
    }

    private static func confirmRoomForResources(of merchant: Merchant.ID, in db: any Transaction) throws {
        guard try ClientResources.hasRoom(merchant, in: db) else {
            throw JSONFault(
                "resources",
                "APIs that your clients named before: the limit of \(ClientResources.most) is reached, so ask the "
                    + "platform")
        }
    }

    /// Refuses new attributes for a third party's client: no page asks its users for them.
    private static func permit(
        giving claims: [String: String], as token: OpenIDSettings.AttributeClaims, to client: Client,
        insteadOf before: [String: String]
    ) throws {
        guard client.may(.takeAttributes) || claims.allSatisfy({ before[$0.key] == $0.value }) else {
            throw JSONFault(
                token.rawValue,
                "left out for a third party's client: no page asks its users, so only the platform may set them")
        }
    }

    public func permit(changingMerchantBy document: JSON) throws {
        try requireAdministrator()
        if document["disabled"] != nil { try requirePlatform("disable or enable a merchant") }
        // A merchant cannot say of itself that every user has met it.
        if document["skip_introduction"] != nil { try requirePlatform("skip the introduction of a merchant") }
    }
}

extension AdministrationRefusal {
    fileprivate static let ofSelfRegistered = AdministrationRefusal(
        "This client registered itself, and its developer changes it: a merchant's administrator may delete or disable "
            + "it, change its scope and, if no user has used it, make it first_party.", isConflict: true)
}
