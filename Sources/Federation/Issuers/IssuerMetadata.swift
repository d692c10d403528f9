import JOSE
import OAuth
import Outbound
import Values

/// What a registration or a change says about a trusted issuer.
struct IssuerMetadata: Sendable {
    enum NewKeys: Sendable {
        case keySet(String)
        case address(String)
        case secret(Secret<TrustedIssuer>)

        var isSecret: Bool { if case .secret = self { true } else { false } }
    }

    let issuer: String
    /// Nil leaves the keys as they are.
    let keys: NewKeys?
    /// Set when it is a provider.
    let app: NewApp?
    let audiences: [String]
    let algorithms: Set<SignatureAlgorithm>
    let createsUsers: Bool
    let isDisabled: Bool
    /// Whether it brings something that is to be sealed.
    var holdsSecret: Bool { keys?.isSecret == true || app?.secret != nil }

    /// Reads `json` over `base`, or over the defaults. An address of keys must be one that `outbound` lets us ask.
    init(_ json: JSON, over base: TrustedIssuer? = nil, outbound: OutboundPolicy) throws(JSONFault) {
        let members = try JSONMembers(json)
        issuer = if let base { base.issuer } else { try members.required("issuer", most: 1000) }
        if let base, let text = try members.text("issuer", most: 1000), text != base.issuer {
            // The people linked to it are linked to this name.
            throw JSONFault("issuer", "what it was: an issuer's name cannot change")
        }
        keys = try Self.keys(members, outbound)
        audiences = try Self.audiences(members) ?? base?.audiences ?? []
        app = try NewApp(members, of: issuer, audiences: audiences, over: base?.app)
        if let isSecret = keys?.isSecret ?? base?.keys?.isSecret {
            let kept = base?.keys?.isSecret == isSecret ? base?.algorithms : nil
            algorithms = try Self.algorithms(members, isSecret) ?? kept ?? Self.defaults(isSecret)
        } else {
            guard app != nil else { throw JSONFault("jwks", "given, or jwks_uri or secret in its place") }
            guard members.any("algorithms") == nil else { throw JSONFault("algorithms", "absent where no keys are") }
            algorithms = []
        }
        createsUsers = try members.flag("create_users") ?? base?.createsUsers ?? false
        isDisabled = try members.flag("disabled") ?? (base?.disabledAt != nil)
        if case .secret(let secret) = keys { try Self.check(secret, for: algorithms) }
    }

    private static func keys(_ members: JSONMembers, _ outbound: OutboundPolicy) throws(JSONFault) -> NewKeys? {
        let sources = ["jwks", "jwks_uri", "secret"].filter { members.any($0) != nil }
        guard sources.count <= 1 else { throw JSONFault(sources[1], "absent beside \(sources[0])") }
        if let keySet = members.any("jwks") { return .keySet(try publicKeys(keySet)) }
        if let address = try members.text("jwks_uri", most: 1000) {
            do {
                try outbound.check(address)
            } catch {
                throw JSONFault("jwks_uri", "an https address that may be asked (\(error))")
            }
            return .address(address)
        }
        return try members.text("secret", most: 1000).map { .secret(Secret($0)) }
    }

    private static func publicKeys(_ keySet: JSON) throws(JSONFault) -> String {
        // A private key pasted by mistake must not come to lie in our database.
        let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
        let members = (keySet["keys"]?.array ?? []).flatMap { $0.members ?? [] }
        guard !members.contains(where: { privateMembers.contains($0.name) }) else {
            throw JSONFault("jwks", "a set of public keys only; it holds a private or symmetric one")
        }
        let text = keySet.text
        guard let keys = try? AssertionKeys(keySet: text), !keys.isEmpty else {
            throw JSONFault(
                "jwks", "a JWK set of at least one key to verify with: RSA from 2048 bits, P-256, P-384, P-521, Ed25519"
            )
        }
        return text
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
        // A public key must never pass for a shared secret: the two kinds do not mix (RFC 8725 §3.1).
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

    /// RFC 7518 §3.2: a key as long as the hash or longer.
    private static func check(
        _ secret: Secret<TrustedIssuer>, for algorithms: Set<SignatureAlgorithm>
    ) throws(JSONFault) {
        let lengths: [SignatureAlgorithm: Int] = [.hs384: 48, .hs512: 64]
        let shortest = algorithms.compactMap { lengths[$0] }.max() ?? 32
        guard secret.value.utf8.count >= shortest else {
            throw JSONFault("secret", "at least \(shortest) bytes for these algorithms")
        }
    }
}
