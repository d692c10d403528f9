import JOSE
import JSON
import OAuth
import Outbound
import Values

/// A trusted issuer, as a registration or a change describes it.
struct IssuerMetadata: Sendable {
    let issuer: String
    /// Nil leaves the keys as they are, or stands for a provider's well-known keys.
    let keys: NewKeys?
    /// Set when the issuer is a provider.
    let app: NewApp?
    let audiences: [String]
    let algorithms: Set<SignatureAlgorithm>
    let createsUsers: Bool
    let rules: IssuerRules
    let signIn: NewSignIn?
    let isDisabled: Bool
    /// Whether a provider's sign-ins are good at every merchant; nil when the document does not say.
    let signsInEverywhere: Bool?
    /// Whether it has a secret to seal.
    var holdsSecret: Bool { keys?.isSecret == true || app?.secret != nil || signIn?.secret != nil }

    /// Reads `json` over `base`, or over the defaults. An address must be one that `outbound` allows.
    init(_ json: JSON, over base: TrustedIssuer? = nil, outbound: OutboundPolicy) throws(JSONFault) {
        let members = try JSONMembers(json)
        let provider = try NewApp.provider(members) ?? base?.app?.provider
        if provider == nil { try NewApp.checkAbsence(in: members) }
        issuer =
            if let name = base?.issuer ?? provider?.issuer { name } else { try members.required("issuer", most: 1000) }
        guard base != nil || !issuer.contains(where: \.isWhitespace) else {
            throw JSONFault("issuer", "the exact `iss` of its assertions, without blanks")
        }
        if let text = try members.text("issuer", most: 1000), text != issuer {
            // Users are linked under this name.
            throw JSONFault(
                "issuer",
                base == nil ? "\(issuer) for this provider" : "what it was: an issuer's name cannot change")
        }
        keys = try NewKeys(members, outbound)
        guard let isSecret = keys?.isSecret ?? base?.keys.isSecret ?? provider.map({ _ in false }) else {
            throw JSONFault("jwks", "given, or jwks_uri, discovery_url or secret in its place")
        }
        guard provider == nil || !isSecret else {
            throw JSONFault("secret", "absent: a provider signs with its own keys")
        }
        let newSignIn = try NewSignIn(members, over: base?.signIn)
        signIn = newSignIn
        // A provider's tokens for our own client there are meant for us.
        let usualAudiences = provider.flatMap { _ in newSignIn.map { [$0.id] } }
        audiences = try Self.audiences(members) ?? base?.audiences ?? usualAudiences ?? []
        app = try NewApp(members, provider, of: issuer, audiences: audiences, over: base?.app)
        let kept = base?.keys.isSecret == isSecret ? base?.algorithms : provider?.algorithms
        algorithms = try Self.algorithms(members, isSecret) ?? kept ?? Self.defaults(isSecret)
        createsUsers = try members.flag("create_users") ?? base?.createsUsers ?? false
        rules = try IssuerRules(members, over: base?.rules ?? provider?.rules ?? IssuerRules())
        isDisabled = try members.flag("disabled") ?? (base?.disabledAt != nil)
        signsInEverywhere = try members.flag("signs_in_everywhere")
        // Trust at every merchant is given to the app named with it, whatever was set meanwhile.
        guard signsInEverywhere != true || provider != nil && members.any("client_id") != nil else {
            throw JSONFault("signs_in_everywhere", "set together with the client_id of a provider")
        }
        try keys?.check(for: algorithms)
        let isDiscovered = keys?.isDiscovery ?? (base?.keys ?? provider?.keys).map(\.isDiscovery)
        try signIn?.check(app, isDiscovered == true, audiences)
    }

    private static func audiences(_ members: JSONMembers) throws(JSONFault) -> [String]? {
        guard let list = try members.list("audiences") else { return nil }
        guard list.allSatisfy({ (1...1000).contains($0.utf8.count) && !$0.utf8.contains { $0 < 0x20 } }) else {
            throw JSONFault("audiences", "strings of 1 to 1000 bytes without control characters")
        }
        return list
    }

    private static func algorithms(
        _ members: JSONMembers, _ isSecret: Bool
    ) throws(JSONFault) -> Set<SignatureAlgorithm>? {
        guard let names = try members.list("algorithms") else { return nil }
        // A public key must never be used as a shared secret, so the two kinds do not mix (RFC 8725 §3.1).
        let possible = SignatureAlgorithm.allCases.filter { $0.isSymmetric == isSecret }
        let algorithms = names.compactMap(SignatureAlgorithm.init).filter(possible.contains)
        guard !names.isEmpty, algorithms.count == names.count else {
            throw JSONFault("algorithms", "of \(possible.map(\.rawValue).joined(separator: ", "))")
        }
        return Set(algorithms)
    }

    private static func defaults(_ isSecret: Bool) -> Set<SignatureAlgorithm> {
        isSecret ? [.hs256] : Set(SignatureAlgorithm.allCases.filter { !$0.isSymmetric })
    }
}
