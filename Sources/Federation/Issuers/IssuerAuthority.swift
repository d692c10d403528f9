public import Directory
public import Storage

/// An authority that registers, changes and deletes trusted issuers.
public protocol IssuerAuthority: Authority {
    /// Whether a sign-in that it sets up is good at every merchant by default.
    var trustsEverywhere: Bool { get }
    /// Throws unless it may register `issuer`, which is already stored.
    func permit(registering issuer: TrustedIssuer, in db: any Transaction) throws
    /// Throws unless it may change `issuer` to `changed`.
    func permit(changing issuer: TrustedIssuer, to changed: TrustedIssuer) throws
    func permit(deleting issuer: TrustedIssuer) throws
}
