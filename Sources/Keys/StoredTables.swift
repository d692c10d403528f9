public import Storage

extension SigningKeys {
    static let table = StoredTable("signing_keys", sealed: [(SealedPlace.signingKey.rawValue, "sealed_private_key")])
}

extension StoredTable {
    /// The tables of this module.
    public static let ofKeys = [SigningKeys.table]
}
