import Authentication
public import Directory
import JSON
public import Values

/// A user who signed in at another issuer.
public struct IdentityProviderUser: Sendable {
    public let issuerUser: IssuerUser
    /// When they signed in there, if the issuer says so.
    public let signedInAt: Timestamp?

    /// What a session records about the issuer. A session by a merchant's own issuer, or by its own app at a provider,
    /// is good for that merchant only: otherwise any merchant could sign in as its users elsewhere. So is a link to a
    /// provider that a client of the merchant made (`isConfined`).
    public func assertedBy(isConfined: Bool = false) -> AssertedBy {
        let isGoodEverywhere = issuerUser.issuer.isTrustedByAll && !isConfined
        return AssertedBy(
            issuer: issuerUser.issuer.id.text,
            name: issuerUser.issuer.app?.provider.rawValue ?? issuerUser.issuer.issuer,
            merchant: isGoodEverywhere ? nil : issuerUser.issuer.merchant, signedInAt: signedInAt)
    }
}

extension TrustedIssuer {
    /// Whether its sign-ins are good everywhere, by the platform's word, and come from a provider's own keys or API.
    public var isTrustedByAll: Bool { signsInEverywhere && (app?.provider == .facebook || hasProvidersKeys) }

    /// Whether it has the name of a well-known provider.
    public var isNamedAsProvider: Bool {
        Provider.allCases.contains { $0.issuer == issuer || $0.aliases.contains(issuer) }
    }

    /// Whether it can be asked for a new sign-in, and says when that was. The providers cannot, or do not.
    public var provesFreshness: Bool { app == nil }
}

extension IdentityProviderAnswer {
    /// The code to redeem, unless the response is an error.
    var code: String {
        get throws(IdentityProviderRefusal) {
            switch outcome {
            case .code(let code): code
            // Apple has its own error code for a user who declines.
            case .error("access_denied"), .error("user_cancelled_authorize"): throw .declined
            case .error("temporarily_unavailable"), .error("server_error"):
                throw .unavailable(reason: "it says so itself")
            case .error(let error): throw .failed(reason: error)
            }
        }
    }
}

extension JSON {
    /// The object without the member `name`.
    func without(_ name: String) -> JSON { .object((members ?? []).filter { $0.name != name }) }

    /// The object with those of `members` that it does not have.
    func adding(_ members: [Member]) -> JSON {
        .object((self.members ?? []) + members.filter { self[$0.name] == nil })
    }
}
