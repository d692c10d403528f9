public import Audit
public import JSON
public import Storage

/// A party that acts: an administrator, the command line, a user or a client. Each module refines this protocol for the
/// changes that it offers, because it knows no module above it; the conformers say what each party may do.
///
/// A write asks its authority again in its own transaction: since the request was checked, it may have waited for its
/// turn, for the hash of a password or for another server.
public protocol Authority: Sendable {
    /// Who acts, for the events of what it changes.
    var actor: Actor { get }
    /// Throws if the party may no longer act.
    func confirm(in db: any Transaction) throws
}

/// An authority that creates, changes and deletes clients. By default it may do nothing.
public protocol ClientAuthority: Authority {
    /// Whether the client itself acts, by dynamic registration (RFC 7591, RFC 7592).
    var isClientItself: Bool { get }
    /// Names that a new name must not resemble, besides those of merchants; nil if it may give any name.
    var reservedNames: [String]? { get }
    /// Whether it may give a client the APIs of other merchants.
    var lendsResources: Bool { get }
    /// Throws unless it may create `client`, which is already stored.
    func permit(making client: Client, in db: any Transaction) throws
    /// Throws unless it may change `client` by `document` to `changed`, which is already stored.
    func permit(changing client: Client, to changed: Client, by document: JSON, in db: any Transaction) throws
    /// Throws unless it may delete `client`, which is still stored.
    func permit(deleting client: Client, in db: any Transaction) throws
    /// Throws unless it may add and end secrets of `client`.
    func permit(settingSecretsOf client: Client) throws
    /// Throws unless it may end the secret of `client` that was just deleted.
    func permit(endingSecretOf client: Client, in db: any Transaction) throws
}

extension ClientAuthority {
    public func permit(making client: Client, in db: any Transaction) throws { throw NotPermitted() }
    public func permit(changing client: Client, to changed: Client, by document: JSON, in db: any Transaction) throws {
        throw NotPermitted()
    }
    public func permit(deleting client: Client, in db: any Transaction) throws { throw NotPermitted() }
    public func permit(settingSecretsOf client: Client) throws { throw NotPermitted() }
    public func permit(endingSecretOf client: Client, in db: any Transaction) throws { throw NotPermitted() }
}

/// An authority was asked for a change that it never makes.
struct NotPermitted: Error {}

/// An authority that creates, changes and deletes merchants.
public protocol MerchantAuthority: Authority {
    /// Names that a new name must not resemble, besides those of other merchants; nil if it may give any name.
    var reservedNames: [String]? { get }
    /// Throws unless it may change a merchant by `document`.
    func permit(changingMerchantBy document: JSON) throws
}
