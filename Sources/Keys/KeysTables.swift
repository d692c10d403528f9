public import Storage

extension StoredSigningKeys {
    static let table = StoredTable("signing_keys", sealed: [(SealedPlace.signingKey.rawValue, "sealed_private_key")])
}

extension StoredTable {
    /// The tables of this module.
    public static let ofKeys = [StoredSigningKeys.table]
}
