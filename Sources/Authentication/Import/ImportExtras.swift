public import Storage
public import Values

/// What other modules keep of imported users: their subjects at identity providers, and the clients that they use.
public struct ImportExtras: Sendable {
    /// Why some of these users cannot be imported, as far as other modules know.
    public typealias Check = @Sendable ([ImportedUser], any Transaction) throws -> [UserID: ImportFault]
    /// Stores what belongs to these users, in the transaction that stores them.
    public typealias Store = @Sendable ([ImportedUser], Timestamp, any Transaction) throws -> Void

    let check: Check
    let store: Store

    public init(check: @escaping Check, store: @escaping Store) {
        self.check = check
        self.store = store
    }

    /// No other module keeps anything, so no line may contain it.
    public static let none = ImportExtras(
        check: { users, _ in
            users.reduce(into: [:]) { faults, user in
                if !user.identities.isEmpty { faults[user.id] = .unknownReference("identities") }
                if !user.consents.isEmpty { faults[user.id] = .unknownReference("consents") }
            }
        }, store: { _, _, _ in })
}
