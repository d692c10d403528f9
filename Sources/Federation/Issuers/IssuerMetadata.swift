import Directory
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

extension IssuerMetadata {
    /// A merchant's app at a provider, as a registration or a change describes it.
    struct NewApp: Sendable {
        let provider: Provider
        let names: [String]
        /// Nil leaves the stored secret as it is.
        let secret: Secret<ProviderApp>?

        /// Nil when the issuer is not a provider.
        init?(
            _ members: JSONMembers, _ provider: Provider?, of issuer: String, audiences: [String],
            over base: ProviderApp?
        ) throws(JSONFault) {
            guard let provider else { return nil }
            self.provider = provider
            guard base == nil || base?.provider == provider else {
                throw JSONFault("provider", "what it was: an issuer's provider cannot change")
            }
            // A change may turn an issuer that was registered without a provider into a provider.
            guard issuer == provider.issuer else {
                throw JSONFault("provider", "that of this issuer: its name would be \(provider.issuer)")
            }
            names = try Self.names(members) ?? base?.names ?? []
            secret = try members.text("app_secret").map { Secret($0) }
            guard !audiences.isEmpty else {
                throw JSONFault("audiences", "given: the ids of the apps that the provider's tokens are issued to")
            }
            switch provider {
            case .facebook:
                // Facebook knows a user by a different number in each app, and each app has its own secret.
                guard audiences.count == 1 else { throw JSONFault("audiences", "one app id: that of app_secret") }
                guard secret != nil || base?.sealedSecret != nil else {
                    throw JSONFault("app_secret", "given: requests to Facebook need it")
                }
            case .google, .apple:
                guard secret == nil else {
                    throw JSONFault("app_secret", "absent: requests to \(provider.name) need none")
                }
            }
            guard provider != .apple || names.isEmpty else {
                throw JSONFault("app_names", "absent: Apple has no access tokens that an app could send")
            }
        }

        /// Throws when an app is described without a provider.
        static func checkAbsence(in members: JSONMembers) throws(JSONFault) {
            for member in ["app_names", "app_secret"] where members.any(member) != nil {
                throw JSONFault(member, "absent without provider")
            }
        }

        static func provider(_ members: JSONMembers) throws(JSONFault) -> Provider? {
            guard let name = try members.text("provider") else { return nil }
            guard let provider = Provider(rawValue: name) else {
                throw JSONFault("provider", "one of \(Provider.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return provider
        }

        private static func names(_ members: JSONMembers) throws(JSONFault) -> [String]? {
            guard let list = try members.list("app_names") else { return nil }
            guard list.allSatisfy({ (1...200).contains($0.utf8.count) && !$0.utf8.contains { $0 < 0x20 } }) else {
                throw JSONFault("app_names", "strings of 1 to 200 bytes without control characters")
            }
            return list
        }
    }
}

extension IssuerMetadata.NewSignIn {
    static let appleMembers = ["team_id", "key_id", "private_key"]

    /// A team's key at Apple, sealed in place of a secret, from which secrets are made when needed. Nil when `members`
    /// describe no key.
    static func appleKey(_ members: JSONMembers) throws(JSONFault) -> Secret<SignInSettings>? {
        guard appleMembers.contains(where: { members.any($0) != nil }) else { return nil }
        guard members.any("client_secret") == nil else { throw JSONFault("client_secret", "absent beside private_key") }
        let team = try members.required("team_id", most: 100)
        let id = try members.required("key_id", most: 100)
        // The file has several lines.
        guard let file = members.any("private_key")?.string, file.utf8.count <= 4000,
            AppleKey(team: team, id: id, file: file) != nil
        else {
            throw JSONFault("private_key", "the text of the .p8 file downloaded from Apple: a P-256 key in PEM")
        }
        return Secret(AppleKey.stored(team: team, id: id, file: file))
    }
}

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

extension IssuerMetadata {
    /// How users sign in at an issuer, as a registration or a change describes it.
    struct NewSignIn: Sendable {
        let id: String
        /// Nil leaves the stored secret as it is.
        let secret: Secret<SignInSettings>?
        /// Whether the secret is Apple's key, from which secrets are made.
        let isAppleKey: Bool
        /// Nil stands for the provider's usual name.
        let name: String?
        let scope: String?

        /// Nil when neither `members` nor `base` has a client id. A `client_id` of null ends it.
        init?(_ members: JSONMembers, over base: SignInSettings?) throws(JSONFault) {
            let isEnded = members.has("client_id") && members.any("client_id") == nil
            guard let id = try members.text("client_id") ?? (isEnded ? nil : base?.clientID) else {
                for member in ["client_secret", "sign_in_name", "scope"] + Self.appleMembers
                where members.any(member) != nil {
                    throw JSONFault(member, "absent without client_id")
                }
                return nil
            }
            self.id = id
            let key = try Self.appleKey(members)
            // Apple's secret is a JWT, so it is long.
            secret = try members.text("client_secret", most: 4000).map { Secret($0) } ?? key
            isAppleKey = key != nil
            name = try members.name("sign_in_name", most: 60) ?? base?.name
            scope = try members.text("scope", most: 500) ?? base?.scope
            guard let scope, Scope(parsing: scope) == nil else { return }
            throw JSONFault("scope", "words of printable ASCII with spaces between")
        }

        /// Throws when the settings do not fit the rest of the registration.
        func check(_ app: NewApp?, _ isDiscovered: Bool, _ audiences: [String]) throws(JSONFault) {
            guard !isAppleKey || app?.provider == .apple else {
                throw JSONFault("private_key", "absent: only Apple accepts this key")
            }
            guard app?.provider == .facebook else {
                guard isDiscovered else {
                    throw JSONFault("discovery_url", "given with client_id: it says where users are sent")
                }
                guard name != nil || app != nil else {
                    throw JSONFault("sign_in_name", "given with client_id: the issuer's name for users")
                }
                guard scope?.split(separator: " ").contains("openid") != false else {
                    throw JSONFault("scope", "with openid in it: without it there is no ID token")
                }
                return
            }
            guard audiences == [id] else { throw JSONFault("client_id", "the app id that is in audiences") }
            guard secret == nil else { throw JSONFault("client_secret", "absent: app_secret is used") }
        }

        /// The settings to store; `seal` seals a new secret.
        func settings(
            over base: SignInSettings?, app: NewApp?, seal: (Secret<SignInSettings>) -> String
        ) -> SignInSettings {
            let usualScope =
                app?.provider == .facebook ? SignInSettings.facebookScope : SignInSettings.usualScope
            return SignInSettings(
                clientID: id, sealedClientSecret: secret.map(seal) ?? base?.sealedClientSecret,
                name: name ?? app?.provider.name ?? "", scope: scope ?? usualScope)
        }
    }
}
