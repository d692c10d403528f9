/// The public description of the application that sent the user here (OpenID Connect Registration §2).
public struct Application: Sendable {
    let name: String
    let logoURI: String?
    let policyURI: String?
    let termsURI: String?

    /// Nil for an application without anything to show.
    public init?(name: String, logoURI: String?, policyURI: String?, termsURI: String?) {
        guard logoURI != nil || policyURI != nil || termsURI != nil else { return nil }
        self.name = name
        self.logoURI = logoURI
        self.policyURI = policyURI
        self.termsURI = termsURI
    }
}
