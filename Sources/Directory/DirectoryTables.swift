import Keys
public import Storage

extension Merchants {
    static let table = StoredTable("merchants")
}

extension Clients {
    static let table = StoredTable(
        "clients", ofMerchant: .cascade, sealed: [(SealedPlace.signSecret.rawValue, "sealed_sign_secret")])
    static let secrets = StoredTable("client_secrets", ofClient: .cascade)
}

extension ClientRedirectURIs {
    static let table = StoredTable("client_redirect_uris", ofClient: .cascade)
}

extension ClientResources {
    static let table = StoredTable("client_resources", ofClient: .cascade)
    static let ofMerchants = StoredTable(
        "resources", ofMerchant: .batches(owner: "lent_to", key: "resource"))
}

extension User {
    static let table = StoredTable("users", export: User.export)
}

extension Connections {
    static let table = StoredTable(
        "connections", ofUser: .cascade, ofClient: .batches(owner: "client_id", key: "user_id"),
        export: [Connections.export])
}

extension StoredTable {
    /// The tables of this module, children first.
    public static let ofDirectory = [
        HostSessions.table, NoticedSignIns.table, Sessions.table, Issuers.table, Connections.table,
        ClientRedirectURIs.table, ClientResources.table, ClientResources.ofMerchants, Clients.secrets, Clients.table,
        Merchants.table,
        TakenNames.table, User.table,
    ]
}
