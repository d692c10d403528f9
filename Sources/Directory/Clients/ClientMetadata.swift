import JOSE
public import JSON
import Values

/// The members of a client's registration or change, in the names of RFC 7591 §2.
public struct ClientMetadata: Sendable {
    var name: String
    var redirectURIs: [RedirectURI]
    var grantTypes: Set<GrantType>
    public internal(set) var scope: Scope
    var authentication: Client.Authentication
    var firstParty: Bool
    var spidCompatible: Bool
    var rotatesRefreshTokens: Bool
    var accessTokenLifetime: Duration
    var refreshTokenLifetime: Duration
    var refreshFamilyLifetime: RefreshFamilyLifetime
    var refreshRepeatWindow: Duration
    var chosenRefreshLeeway: Duration?
    /// Nil when neither the document nor the client's earlier metadata sets it.
    var requiresPKCE: Bool?
    var webPages: [WebPages]
    var postLogoutRedirectURIs: [RedirectURI]
    var callbackURI: String?
    var requiresVerifiedEmail: Bool
    var signsResponses: Bool
    var termsURI: String?
    var openID: OpenIDSettings
    var spid: SPiDSettings

    /// Reads `json` over `base`, or over the defaults of RFC 7591 §2. `sector` is the document at its
    /// `sector_identifier_uri`, if that is new.
    public init(_ json: JSON, over base: Client? = nil, sector: SectorDocument? = nil) throws {
        let members = try JSONMembers(json)
        name = try members.name("client_name", most: 200) ?? base?.name ?? Client.unnamed
        redirectURIs = try Self.redirectURIs(members, "redirect_uris") ?? base?.redirectURIs ?? []
        grantTypes = try Self.grantTypes(members) ?? base?.grantTypes ?? [.authorizationCode]
        scope = try Self.scope(members) ?? base?.scope ?? .empty
        authentication = try Self.authentication(members) ?? base?.authentication ?? .secretBasic
        firstParty = try members.flag("first_party") ?? base?.kind.isFirstParty ?? true
        spidCompatible = try members.flag("spid_compatible") ?? base?.kind.isSPiDCompatible ?? false
        rotatesRefreshTokens = try members.flag("rotate_refresh_tokens") ?? base?.rotatesRefreshTokens ?? false
        accessTokenLifetime =
            try members.seconds(
                "access_token_lifetime", within: Client.shortestAccessTokenLifetime.seconds...31_536_000)
            ?? base?.accessTokenLifetime ?? Client.usualAccessTokenLifetime
        refreshTokenLifetime =
            try members.seconds("refresh_token_lifetime", within: 60...31_536_000) ?? base?.refreshTokenLifetime
            ?? .days(30)
        refreshFamilyLifetime = try RefreshFamilyLifetime(members) ?? base?.refreshFamilyLifetime ?? .year
        refreshRepeatWindow =
            try members.seconds("refresh_repeat_window", within: 0...86_400) ?? base?.refreshRepeatWindow
            ?? .minutes(10)
        chosenRefreshLeeway = try Self.refreshLeeway(members) ?? base?.chosenRefreshLeeway
        requiresPKCE = try members.flag("require_pkce") ?? base?.requiresPKCE
        webPages = try Self.webPages(members) ?? base?.webPages ?? []
        postLogoutRedirectURIs =
            try Self.redirectURIs(members, "post_logout_redirect_uris") ?? base?.postLogoutRedirectURIs ?? []
        callbackURI = try Self.callbackURI(members, base)
        requiresVerifiedEmail = try members.flag("require_verified_email") ?? base?.requiresVerifiedEmail ?? false
        signsResponses = try members.flag("signed_responses") ?? base?.signsResponses ?? false
        termsURI = try Self.termsURI(members, base)
        openID = try OpenIDSettings(
            json, over: base?.openID ?? .ofNewClient(forSPiD: spidCompatible), redirectURIs: redirectURIs)
        spid = spidCompatible ? try SPiDSettings(members, over: base?.spid) : SPiDSettings()
        try checkResources(over: base)
        try checkAddresses(over: base)
        if let base, base.authentication != authentication {
            throw JSONFault("token_endpoint_auth_method", "unchanged: a client's method cannot change")
        }
        try checkTogether(members)
        try checkSector(sector, over: base)
    }

    /// Whether the client can belong to the platform: one without a merchant only administers.
    public var isForPlatform: Bool {
        !AdministratorRoles(scope, ofMerchant: false).isEmpty
    }
    /// Whether only the platform may own the client.
    public var isForPlatformAlone: Bool { scope.contains(Scope.admin) }

    /// Hosts of the client's site at which this server answers too.
    public var sessionHosts: [String] { spid.sessionHosts }

    /// Resources that the client already has stay: they were registered before this rule.
    private func checkResources(over base: Client?) throws(JSONFault) {
        for resource in openID.resources where base?.openID.resources.contains(resource) != true {
            guard let normal = ResourceURI.normal(resource) else {
                throw JSONFault("resources", "absolute URIs without a user and a fragment (RFC 8707 §2)")
            }
            guard normal.utf8.elementsEqual(resource.utf8) else {
                throw JSONFault("resources", "in their normal form (RFC 3986 §6.2): \(normal)")
            }
        }
    }

    private func checkTogether(_ members: JSONMembers) throws(JSONFault) {
        if !kind.may(.actForItself), grantTypes.contains(.clientCredentials) {
            // RFC 6749 §4.4: the client credentials grant is for confidential clients.
            throw JSONFault("grant_types", "without client_credentials for a client that has no secret")
        }
        // A client that was registered before this rule can still be disabled.
        if !kind.may(.administer), members.has("scope") || members.has("redirect_uris"), scope.administers {
            throw JSONFault("scope", "without admin scopes for a client that has no secret, or has it in an app")
        }
        if !kind.may(.omitChallenge), try members.flag("require_pkce") == false {
            throw JSONFault("require_pkce", "true for a client that has no secret")
        }
        if !kind.may(.keepRefreshTokens), try members.flag("rotate_refresh_tokens") == false {
            throw JSONFault("rotate_refresh_tokens", "true for a client that has no secret, or has it in an app")
        }
        try checkRefreshLeeway(members)
        if authentication == .privateKeyJWT, openID.keys == .none {
            throw JSONFault("jwks", "given, or jwks_uri in its place, for private_key_jwt")
        }
        if openID.accessTokenFormat == .jwt, accessTokenLifetime > OpenIDSettings.longestJWT {
            throw JSONFault(
                "access_token_lifetime", "at most \(OpenIDSettings.longestJWT.seconds) seconds for tokens that are JWTs"
            )
        }
        try checkLifetime(members)
        try checkPairwise()
        try checkSPiD(members)
        try checkSigning()
        try checkIDTokens()
    }

    /// SPiD's API, its signed responses and its callbacks show user ids, which a pairwise client must not see.
    private func checkPairwise() throws(JSONFault) {
        guard openID.isPairwise else { return }
        guard !spidCompatible else {
            throw JSONFault(
                "subject_type", "public for a client with spid_compatible: SPiD's API reveals users' numbers")
        }
        guard callbackURI == nil else {
            throw JSONFault(
                "callback_uri", "left out for a client with subject_type pairwise: callbacks reveal users' numbers")
        }
    }

    /// These settings loosen a rule, for clients that must be answered as SPiD did.
    private func checkSPiD(_ members: JSONMembers) throws(JSONFault) {
        guard !spidCompatible else { return try checkSecret() }
        for name in SPiDSettings.declared.map(\.name) where members.any(name) != nil {
            throw JSONFault(name, "left out for a client without spid_compatible")
        }
        guard !grantTypes.contains(.passwordless) else {
            throw JSONFault("grant_types", "without passwordless for a client without spid_compatible")
        }
        guard webPages.allSatisfy(\.isWholeOrigin) else {
            throw JSONFault("web_origins", "origins without a path for a client without spid_compatible")
        }
    }

    /// The kind of client that this describes. The checks here do not depend on the owner.
    var kind: ClientKind { ClientKind(self, at: nil, registeredItself: false) }

    /// Checks what is reserved for clients with a secret, or for those without.
    private func checkSecret() throws(JSONFault) {
        guard !kind.may(.takeCodesOfAnyClient) || spid.publicExchangeCodesFrom.isEmpty else {
            throw JSONFault(
                "public_exchange_codes_from", "left out for a client with a secret on a server")
        }
        guard kind.may(.redeemCodesTwice) || !spid.codesRedeemedTwice else {
            throw JSONFault("codes_redeemed_twice", "false for a client that has no secret")
        }
    }

    /// OpenID Connect Registration §2: the algorithm belongs to the authentication method. Other methods have none.
    private func checkSigning() throws(JSONFault) {
        guard let algorithm = openID.authenticationAlgorithm else { return }
        let name = "token_endpoint_auth_signing_alg"
        switch authentication {
        case .secretJWT:
            guard algorithm == .hs256 else { throw JSONFault(name, "HS256 for client_secret_jwt") }
        case .privateKeyJWT:
            guard !algorithm.isSymmetric else { throw JSONFault(name, "not an HMAC for private_key_jwt") }
        case .none, .secretBasic, .secretPost:
            throw JSONFault(name, "left out, unless the method is client_secret_jwt or private_key_jwt")
        }
    }

    private static func redirectURIs(
        _ members: JSONMembers, _ name: String
    ) throws(JSONFault) -> [RedirectURI]? {
        guard let list = try members.list(name) else { return nil }
        var uris: [RedirectURI] = []
        for text in list {
            guard let uri = RedirectURI(registering: text) else {
                throw JSONFault(name, RedirectURI.expected(inPlaceOf: text))
            }
            if !uris.contains(uri) { uris.append(uri) }
        }
        return uris
    }

    private static func grantTypes(_ members: JSONMembers) throws(JSONFault) -> Set<GrantType>? {
        guard let list = try members.list("grant_types") else { return nil }
        let types = list.map(GrantType.init)
        guard types.allSatisfy(GrantType.registrable.contains) else {
            throw JSONFault("grant_types", "of \(GrantType.registrable.map(\.name).joined(separator: ", "))")
        }
        return Set(types)
    }

    private static func scope(_ members: JSONMembers) throws(JSONFault) -> Scope? {
        guard members.any("scope") != nil else { return nil }
        if members.any("scope")?.string == "" { return .empty }
        guard let text = try members.text("scope", most: 2000) else { return nil }
        guard let scope = Scope(parsing: text), !text.contains(",") else {
            throw JSONFault("scope", "scope tokens of printable ASCII separated by spaces, without commas")
        }
        return scope
    }

    private static func authentication(_ members: JSONMembers) throws(JSONFault) -> Client.Authentication? {
        guard let text = try members.text("token_endpoint_auth_method") else { return nil }
        guard let method = Client.Authentication(rawValue: text) else {
            throw JSONFault(
                "token_endpoint_auth_method",
                "of \(Client.Authentication.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return method
    }
}

/// A client's web addresses.
extension ClientMetadata {
    /// The most bytes of all its address lists together, because every use of a client reads all of it.
    static let mostAddressBytes = 64 * 1024

    /// A client that had more before this rule may keep or shorten its lists.
    func checkAddresses(over base: Client?) throws(JSONFault) {
        let lists = Self.addressBytes(redirectURIs, postLogoutRedirectURIs, webPages, openID, spid)
        let former =
            base.map {
                Self.addressBytes($0.redirectURIs, $0.postLogoutRedirectURIs, $0.webPages, $0.openID, $0.spid)
            } ?? [:]
        let bytes = lists.values.reduce(0, +)
        guard bytes > Self.mostAddressBytes, bytes > former.values.reduce(0, +),
            let member = lists.keys.sorted().first(where: { lists[$0, default: 0] > former[$0, default: 0] })
        else { return }
        throw JSONFault(
            member,
            "shorter: all lists of addresses of a client have at most \(Self.mostAddressBytes) bytes together")
    }

    /// The bytes of each list, by its member.
    private static func addressBytes(
        _ redirectURIs: [RedirectURI], _ logoutURIs: [RedirectURI], _ pages: [WebPages], _ openID: OpenIDSettings,
        _ spid: SPiDSettings
    ) -> [String: Int] {
        let lists: [String: [String]] = [
            "redirect_uris": redirectURIs.map(\.text), "post_logout_redirect_uris": logoutURIs.map(\.text),
            "web_origins": pages.map(\.text), "request_uris": openID.requestURIs, "resources": openID.resources,
            "session_hosts": spid.sessionHosts,
            "contacts": openID.information.first { $0.name == "contacts" }?.value.strings ?? [],
        ]
        return lists.mapValues { list in list.reduce(0) { $0 + $1.utf8.count } }
    }

    static func webPages(_ members: JSONMembers) throws(JSONFault) -> [WebPages]? {
        guard let list = try members.list("web_origins") else { return nil }
        return try list.map { text throws(JSONFault) in
            guard let pages = WebPages(registering: text) else {
                throw JSONFault(
                    "web_origins",
                    "origins such as https://www.example.com: in lower case, no default port, no slash at the end; "
                        + "for a client with spid_compatible optionally with a path, such as "
                        + "https://www.example.com/news")
            }
            return pages
        }
    }

    static func callbackURI(_ members: JSONMembers, _ base: Client?) throws(JSONFault) -> String? {
        try address(members, "callback_uri", base?.callbackURI)
    }

    /// RFC 7591 §2 `tos_uri`.
    static func termsURI(_ members: JSONMembers, _ base: Client?) throws(JSONFault) -> String? {
        try address(members, "tos_uri", base?.termsURI)
    }

    /// An https URL, or an http one to this machine; null removes it.
    private static func address(
        _ members: JSONMembers, _ name: String, _ known: String?
    ) throws(JSONFault) -> String? {
        guard members.has(name) else { return known }
        guard let text = try members.text(name, most: 2000) else { return nil }
        guard let uri = RedirectURI(registering: text),
            uri.text.hasPrefix("https://") || uri.text.hasPrefix("http://")
        else { throw JSONFault(name, "an https URL, or an http one to localhost, 127.0.0.0/8 or ::1, or null") }
        return text
    }
}

extension ClientMetadata {
    /// A shared secret signs only for clients that authenticate with one. A public client can keep no secret, and a
    /// client that signs with a private key expects that nothing else can sign what it accepts.
    func checkIDTokens() throws(JSONFault) {
        guard openID.idTokenAlgorithm == .signSecret else { return }
        guard authentication.takesSecret || authentication == .secretJWT else {
            throw JSONFault(
                "id_token_signed_response_alg", "not HS256 for a client that authenticates without a secret")
        }
    }
}

extension JSONFault {
    /// A third-party client is not told its sign secret.
    static let sharedSecretOfSelfRegistered = JSONFault(
        "id_token_signed_response_alg", "not HS256 for a self-registered client")
}
