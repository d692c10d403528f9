public import Cryptography
public import JOSE
public import JSON
import Values

/// A client's registered OpenID Connect settings (Dynamic Client Registration §2, Back-Channel Logout §2.2).
public struct OpenIDSettings: Sendable, Equatable {
    /// Where the client's public keys are.
    public enum Keys: Sendable, Equatable {
        case none
        case keySet(RegisteredKeySet)
        case address(String)
    }

    /// Which subject identifier the client gets for a user (OpenID Connect Core §8).
    public enum SubjectType: Sendable, Equatable {
        case `public`
        /// A different identifier for each sector, which is a host.
        case pairwise(sector: String)

        var name: String { self == .public ? "public" : "pairwise" }
    }

    public enum AccessTokenFormat: String, Sendable { case opaque, jwt }

    /// The `typ` of its access tokens that are JWTs.
    public enum AccessTokenType: String, Sendable {
        /// RFC 9068 §2.1.
        case standard = "at+jwt"
        /// For resource servers that refuse the standard one.
        case plain = "JWT"
    }

    /// A token that carries claims which are taken from the user's attributes. The raw value is the setting that names
    /// the attribute of each claim.
    public enum AttributeClaims: String, Sendable, CaseIterable {
        case idToken = "id_token_claims"
        /// An access token that is a JWT (RFC 9068 §2.2.3.1), and the introspection of any.
        case accessToken = "access_token_claims"
    }

    /// `code` by default: implicit and hybrid responses are off unless a client asks for them.
    public var responseTypes: [ResponseType] = [.code]
    public var idTokenAlgorithm: IDTokenAlgorithm = .key(.rs256)
    public var idTokenLifetime: Duration = IDTokenLifetime.standard
    /// Whether its ID tokens from the token endpoint carry the userinfo claims of the scope. Core §5.4 names userinfo
    /// for them when an access token is issued too, and forbids neither. ID tokens through the browser do not.
    public var idTokenCarriesScope = false
    /// The additional claims of its tokens, by name, with the user's attribute that each is taken from.
    public var claims: [AttributeClaims: [String: String]] = [:]
    public var subjectType: SubjectType = .public
    /// The document that lists the redirect URIs of all clients of its sector.
    public var sectorIdentifierURI: String?
    /// Nil when userinfo responses are plain JSON.
    public var userinfoAlgorithm: PrivateKey.Algorithm?
    public var requestObjectAlgorithm: SignatureAlgorithm?
    /// The URLs from which its request objects may be fetched.
    public var requestURIs: [String] = []
    /// The only algorithm of its client assertions, if it named one.
    public var authenticationAlgorithm: SignatureAlgorithm?
    /// Whether its client assertions must name the issuer, and not the token endpoint (RFC 7523bis §4).
    public var addressesIssuer = false
    public var keys: Keys = .none
    public var accessTokenFormat: AccessTokenFormat = .opaque
    public var accessTokenType: AccessTokenType = .standard
    /// The audiences that its tokens may be requested for (RFC 8707), in addition to this server.
    public var resources: [String] = []
    public var defaultMaxAge: Duration?
    public var backChannelLogoutURI: String?
    public var sendsSessionID = false
    /// Descriptive members for users and for the client's administrators: stored and shown as given.
    public var information: [JSON.Member] = []

    /// Whether the client must not see user ids, by which clients could compare their users.
    public var isPairwise: Bool { subjectType != .public }

    public init() {}

    /// What a client gets that says nothing else. Many libraries expect a user's name and address in the ID token;
    /// SPiD's never had them.
    static func ofNewClient(forSPiD: Bool) -> OpenIDSettings {
        var settings = OpenIDSettings()
        settings.idTokenCarriesScope = !forSPiD
        return settings
    }

    /// The longest lifetime of the server's JWTs. A key stays published that long after its last signature
    /// (`KeyRotation`).
    public static let longestJWT: Duration = .days(30)
}

extension OpenIDSettings {
    /// The members in the names of registration, as they are stored and as administration shows them.
    public var members: [JSON.Member] {
        var keySet: JSON?
        var keyAddress: JSON?
        switch keys {
        case .none: break
        case .keySet(let set): keySet = try? JSON(stored: set.text)
        case .address(let text): keyAddress = .string(text)
        }
        func attributes(_ token: AttributeClaims) -> JSON? {
            claims[token].map { named in
                .object(named.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
            }
        }
        let json = JSON.members([
            "response_types": .array(responseTypes.map { .string($0.description) }),
            "id_token_signed_response_alg": .string(idTokenAlgorithm.name),
            "id_token_lifetime": .integer(idTokenLifetime.seconds),
            "id_token_scope_claims": .bool(idTokenCarriesScope),
            "id_token_claims": attributes(.idToken),
            "access_token_claims": attributes(.accessToken),
            "access_token_typ": accessTokenType == .standard ? nil : .string(accessTokenType.rawValue),
            "subject_type": .string(subjectType.name),
            "sector_identifier_uri": sectorIdentifierURI.map { .string($0) },
            "userinfo_signed_response_alg": userinfoAlgorithm.map { .string($0.rawValue) },
            "request_object_signing_alg": requestObjectAlgorithm.map { .string($0.rawValue) },
            "request_uris": requestURIs.isEmpty ? nil : .array(requestURIs.map { .string($0) }),
            "token_endpoint_auth_signing_alg": authenticationAlgorithm.map { .string($0.rawValue) },
            "require_issuer_audience": addressesIssuer ? true : nil,
            "jwks": keySet,
            "jwks_uri": keyAddress,
            "access_token_format": .string(accessTokenFormat.rawValue),
            "resources": resources.isEmpty ? nil : .array(resources.map { .string($0) }),
            "default_max_age": defaultMaxAge.map { .integer($0.seconds) },
            "backchannel_logout_uri": backChannelLogoutURI.map { .string($0) },
            "backchannel_logout_session_required": backChannelLogoutURI == nil ? nil : .bool(sendsSessionID),
        ])
        return (json.members ?? []) + information
    }
}

extension OpenIDSettings {
    private static let texts = ["software_id", "software_version"]
    /// Pages link to them, so they must be web addresses.
    private static let addresses = ["client_uri", "logo_uri", "policy_uri", "initiate_login_uri"]

    /// The client's descriptive members in `members`, over those in `base`.
    static func information(_ members: JSONMembers, over base: [JSON.Member]) throws(JSONFault) -> [JSON.Member] {
        var kept = base
        func keep(_ name: String, _ value: JSON?) {
            kept.removeAll { $0.name == name }
            if let value { kept.append(.init(name, value)) }
        }
        for name in texts where members.has(name) {
            keep(name, try members.text(name, most: 1000).map { .string($0) })
        }
        for name in addresses where members.has(name) {
            let address = try address(members, name)
            guard name != "logo_uri" || address.map(WebOrigin.isImage) ?? true else {
                throw JSONFault(name, "an https URL")
            }
            // Core §4: https is required even for a loopback host, where http is enough for the others.
            guard name != "initiate_login_uri" || address?.hasPrefix("https://") ?? true else {
                throw JSONFault(name, "an https URL")
            }
            keep(name, address.map { .string($0) })
        }
        if members.has("application_type") {
            let type = try members.text("application_type")
            guard type.map({ ["web", "native"].contains($0) }) ?? true else {
                throw JSONFault("application_type", "web or native")
            }
            keep("application_type", type.map { .string($0) })
        }
        if members.has("contacts") {
            let list = try members.list("contacts", most: 20)
            keep("contacts", list.map { .array($0.map { .string(String($0.prefix(300))) }) })
        }
        return kept
    }

    /// One of the addresses that the client gave as links for users.
    public func address(_ name: String) -> String? { information.first { $0.name == name }?.value.string }
}

extension OpenIDSettings {
    /// Where the client's keys are; nil when the document has neither `jwks` nor `jwks_uri`.
    static func keys(_ members: JSONMembers, isStored: Bool) throws(JSONFault) -> Keys? {
        guard members.has("jwks") || members.has("jwks_uri") else { return nil }
        let address = try address(members, "jwks_uri")
        guard let keySet = members.any("jwks") else { return address.map { .address($0) } ?? Keys.none }
        // RFC 7591 §2: they must not both be present.
        guard address == nil else { throw JSONFault("jwks", "left out beside jwks_uri") }
        return .keySet(try RegisteredKeySet(keySet, isStored: isStored))
    }
}

extension OpenIDSettings {
    /// URLs, each optionally with the hash of its content as the fragment (OpenID Connect Registration §2).
    static func requestURIs(_ members: JSONMembers, isStored: Bool) throws(JSONFault) -> [String] {
        let list = try members.list("request_uris", most: 20) ?? []
        guard !isStored else { return list }
        for text in list {
            let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let hash = parts.count == 2 ? parts[1] : "h"
            guard let first = parts.first, let uri = RedirectURI(registering: String(first)), uri.isOfWeb,
                hash.firstMatch(of: /^[A-Za-z0-9_-]{1,100}$/) != nil
            else { throw JSONFault("request_uris", "https URLs, each optionally with the hash of its content") }
        }
        return list
    }
}
