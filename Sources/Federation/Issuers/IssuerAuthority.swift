public import Directory
public import Storage

/// Who registers, changes and deletes trusted issuers.
public protocol IssuerAuthority: Authority {
    /// Whether a sign-in that it sets up is good at every merchant, unless it says otherwise.
    var trustsEverywhere: Bool { get }
    /// Throws when it may not register `issuer`, which is stored by now.
    func permit(registering issuer: TrustedIssuer, in db: any Transaction) throws
    /// Throws when it may not make of `issuer` what it would become.
    func permit(changing issuer: TrustedIssuer, to changed: TrustedIssuer) throws
    func permit(deleting issuer: TrustedIssuer) throws
}
