import JOSE
import JSON
import Outbound
import Values

extension IssuerMetadata {
    /// An issuer's keys, as a registration or a change describes them.
    enum NewKeys: Sendable {
        case keySet(String)
        case address(String)
        case discovery(String)
        case secret(Secret<TrustedIssuer>)

        var isSecret: Bool { if case .secret = self { true } else { false } }
        var isDiscovery: Bool { if case .discovery = self { true } else { false } }

        /// Nil when `members` describe no keys.
        init?(_ members: JSONMembers, _ outbound: OutboundPolicy) throws(JSONFault) {
            let sources = ["jwks", "jwks_uri", "discovery_url", "secret"].filter { members.any($0) != nil }
            guard sources.count <= 1 else { throw JSONFault(sources[1], "absent beside \(sources[0])") }
            if let keySet = members.any("jwks") {
                _ = try AssertionKeys(registering: keySet)
                self = .keySet(keySet.text)
            } else if let address = try Self.address(members, "jwks_uri", outbound) {
                self = .address(address)
            } else if let address = try Self.address(members, "discovery_url", outbound) {
                self = .discovery(address)
            } else if let secret = try members.text("secret", most: 1000) {
                self = .secret(Secret(secret))
            } else {
                return nil
            }
        }

        private static func address(
            _ members: JSONMembers, _ name: String, _ outbound: OutboundPolicy
        ) throws(JSONFault) -> String? {
            guard let address = try members.text(name, most: 1000) else { return nil }
            do {
                try outbound.check(address)
            } catch {
                throw JSONFault(name, "an https URL that this server may request (\(error))")
            }
            return address
        }

        /// RFC 7518 §3.2: the key must be at least as long as the hash.
        func check(for algorithms: Set<SignatureAlgorithm>) throws(JSONFault) {
            guard case .secret(let secret) = self else { return }
            let lengths: [SignatureAlgorithm: Int] = [.hs384: 48, .hs512: 64]
            let shortest = algorithms.compactMap { lengths[$0] }.max() ?? 32
            guard secret.value.utf8.count >= shortest else {
                throw JSONFault("secret", "at least \(shortest) bytes for these algorithms")
            }
        }
    }
}

extension TrustedIssuer.KeySource {
    var isDiscovery: Bool { if case .discovery = self { true } else { false } }
}
