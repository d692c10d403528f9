import Authentication
public import Directory
import JSON
public import Values

/// Who came back from another issuer.
public struct IdentityProviderUser: Sendable {
    public let person: IssuerUser
    /// When they signed in there, if the issuer says.
    public let signedInAt: Timestamp?

    /// The issuer's word for a session. That of a merchant's own issuer is good for this merchant only: else any merchant
    /// could have its people elsewhere. Providers that everybody knows nobody can imitate; but a link to one that a
    /// client of the merchant made (`isConfined`) leads no further than the merchant.
    public func voucher(isConfined: Bool = false) -> AssertedBy {
        let isGoodEverywhere = person.issuer.isTrustedByAll && !isConfined
        return AssertedBy(
            name: person.issuer.app?.provider.rawValue ?? person.issuer.issuer,
            merchant: isGoodEverywhere ? nil : person.issuer.merchant, signedInAt: signedInAt)
    }
}

extension TrustedIssuer {
    /// Whether its word for a person cannot be made up by its merchant: a provider's own keys say it, or its own interface.
    public var isTrustedByAll: Bool { app?.provider == .facebook || hasProvidersKeys }

    /// Whether it has the name of a provider that everybody knows.
    public var isNamedAsProvider: Bool {
        Provider.allCases.contains { $0.issuer == issuer || $0.aliases.contains(issuer) }
    }

    /// Whether it can be asked to have somebody sign in again, and says when they did. The providers cannot, or do not.
    public var provesFreshness: Bool { app == nil }
}

extension IdentityProviderAnswer {
    /// What is redeemed, unless the answer is an error.
    var code: String {
        get throws(IdentityProviderRefusal) {
            switch outcome {
            case .code(let code): code
            // Apple's word for the person's no is its own.
            case .error("access_denied"), .error("user_cancelled_authorize"): throw .declined
            case .error("temporarily_unavailable"), .error("server_error"):
                throw .unavailable(reason: "it says so itself")
            case .error(let error): throw .failed(reason: error)
            }
        }
    }
}

extension JSON {
    /// The object with `members` that it has not.
    func adding(_ members: [Member]) -> JSON {
        .object((self.members ?? []) + members.filter { self[$0.name] == nil })
    }
}
