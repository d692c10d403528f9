public import JSON
public import Storage

/// Who acts: an administrator, the command line, a user, a client. Each module refines it for what it lets others
/// change, because it knows no module above; the conformers say what each of them may.
///
/// A write asks in its own transaction: since the request was checked it has waited for its turn, for the hash of a
/// password or for another server.
public protocol Authority: Sendable {
    /// Throws when it may act no more.
    func confirm(in db: any Transaction) throws
}

/// Who makes, changes and deletes clients. What a conformer does not permit is refused.
public protocol ClientAuthority: Authority {
    /// Whether it is the client itself, by dynamic registration (RFC 7591, RFC 7592).
    var isClientItself: Bool { get }
    /// What a name that it gives must not look like, besides the names of merchants; nil where it gives any.
    var reservedNames: [String]? { get }
    /// Whether it lends a client the APIs of other merchants.
    var lendsResources: Bool { get }
    /// Throws when it may not make `client`, which is stored by now.
    func permit(making client: Client, in db: any Transaction) throws
    /// Throws when it may not change `client` by `document` to `changed`, which is stored by now.
    func permit(changing client: Client, to changed: Client, by document: JSON, in db: any Transaction) throws
    /// Throws when it may not delete `client`, which is still there.
    func permit(deleting client: Client, in db: any Transaction) throws
    /// Throws when secrets of `client` are not its to add and to end.
    func permit(settingSecretsOf client: Client) throws
}

extension ClientAuthority {
    public func permit(making client: Client, in db: any Transaction) throws { throw NotPermitted() }
    public func permit(changing client: Client, to changed: Client, by document: JSON, in db: any Transaction) throws {
        throw NotPermitted()
    }
    public func permit(deleting client: Client, in db: any Transaction) throws { throw NotPermitted() }
    public func permit(settingSecretsOf client: Client) throws { throw NotPermitted() }
}

/// An authority was asked for what it never does.
struct NotPermitted: Error {}

/// Who changes merchants.
public protocol MerchantAuthority: Authority {
    /// What a name that it gives must not look like, besides the names of other merchants; nil where it gives any.
    var reservedNames: [String]? { get }
    /// Throws when it may not change a merchant by `document`.
    func permit(changingMerchantBy document: JSON) throws
}
