import Cryptography
import JOSE
package import JSON
import Values

extension OpenIDSettings {
    /// Reads `json` over `base`, in the member names of registration. `redirectURIs` are the client's new ones: their
    /// host is the sector of a pairwise client. `isStored`: the document was checked by the rules of its time, and
    /// checking its address lists again would take milliseconds.
    init(
        _ json: JSON, over base: OpenIDSettings?, redirectURIs: [RedirectURI], isStored: Bool = false
    ) throws(JSONFault) {
        let members = try JSONMembers(json)
        self = base ?? OpenIDSettings()
        if let types = try Self.responseTypes(members) { responseTypes = types }
        if let text = try members.text("id_token_signed_response_alg") {
            guard let algorithm = IDTokenAlgorithm(name: text) else {
                let names = IDTokenAlgorithm.all.map(\.name).joined(separator: ", ")
                throw JSONFault("id_token_signed_response_alg", "of \(names)")
            }
            idTokenAlgorithm = algorithm
        }
        if let lifetime = try members.seconds("id_token_lifetime", within: IDTokenLifetime.allowed) {
            idTokenLifetime = lifetime
        }
        if let flag = try members.flag("id_token_scope_claims") { idTokenCarriesScope = flag }
        for token in AttributeClaims.allCases where members.has(token.rawValue) {
            claims[token] = try Self.claims(of: token, members, isStored: isStored)
        }
        if members.has("sector_identifier_uri") {
            sectorIdentifierURI = try Self.address(members, "sector_identifier_uri")
        }
        // Read even when the document does not set it: the sector follows the redirect URIs.
        subjectType = try Self.subjectType(
            try members.text("subject_type") ?? subjectType.name, sector: sectorIdentifierURI, redirectURIs)
        if members.has("userinfo_signed_response_alg") {
            userinfoAlgorithm = try Self.algorithm(members, "userinfo_signed_response_alg")
        }
        if members.has("request_object_signing_alg") {
            requestObjectAlgorithm = try Self.signature(members, "request_object_signing_alg")
            // An HMAC needs a client secret, but only fingerprints of those are stored.
            guard requestObjectAlgorithm.map({ !$0.isSymmetric }) ?? true else {
                throw JSONFault("request_object_signing_alg", "not an HMAC")
            }
        }
        if members.has("request_uris") { requestURIs = try Self.requestURIs(members, isStored: isStored) }
        if members.has("token_endpoint_auth_signing_alg") {
            authenticationAlgorithm = try Self.signature(members, "token_endpoint_auth_signing_alg")
        }
        if let flag = try members.flag("require_issuer_audience") { addressesIssuer = flag }
        keys = try Self.keys(members, isStored: isStored) ?? keys
        if let text = try members.text("access_token_format") {
            guard let format = AccessTokenFormat(rawValue: text) else {
                throw JSONFault("access_token_format", "opaque or jwt")
            }
            accessTokenFormat = format
        }
        if members.has("access_token_typ") {
            let text = try members.text("access_token_typ") ?? AccessTokenType.standard.rawValue
            guard let type = AccessTokenType(rawValue: text) else {
                throw JSONFault("access_token_typ", "at+jwt or JWT")
            }
            accessTokenType = type
        }
        if let list = try members.list("resources") { resources = try isStored ? list : list.map(Self.resource) }
        if members.has("default_max_age") {
            defaultMaxAge = try members.seconds("default_max_age", within: 0...31_536_000)
        }
        if members.has("backchannel_logout_uri") {
            backChannelLogoutURI = try Self.address(members, "backchannel_logout_uri")
        }
        if let flag = try members.flag("backchannel_logout_session_required") { sendsSessionID = flag }
        information = try Self.information(members, over: information)
    }

    private static func responseTypes(_ members: JSONMembers) throws(JSONFault) -> [ResponseType]? {
        guard let list = try members.list("response_types") else { return nil }
        let types = list.compactMap { ResponseType($0) }
        guard types.count == list.count, !types.isEmpty else {
            throw JSONFault("response_types", "of \(ResponseType.all.map { "\"\($0)\"" }.joined(separator: ", "))")
        }
        return ResponseType.all.filter(types.contains)
    }

    private static func algorithm(_ members: JSONMembers, _ name: String) throws(JSONFault) -> PrivateKey.Algorithm? {
        guard let text = try members.text(name) else { return nil }
        guard let algorithm = PrivateKey.Algorithm(rawValue: text) else {
            throw JSONFault(name, "of \(PrivateKey.Algorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return algorithm
    }

    private static func signature(_ members: JSONMembers, _ name: String) throws(JSONFault) -> SignatureAlgorithm? {
        guard let text = try members.text(name) else { return nil }
        guard let algorithm = SignatureAlgorithm(rawValue: text) else {
            throw JSONFault(name, "of \(SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return algorithm
    }

    /// Claims of tokens that the server itself sets: attributes must not replace them.
    private static let reserved: Set = [
        "iss", "sub", "aud", "exp", "iat", "nbf", "jti", "nonce", "auth_time", "acr", "amr", "azp", "at_hash", "c_hash",
        "s_hash", "sid", "events", "cnf", "act", "client_id", "scope", "_claim_names", "_claim_sources",
        "legacy_user_id",
    ]

    /// Members of introspection's answer that are no claims of ID tokens (RFC 7662 §2.2).
    private static let reservedInAccessTokens = reserved.union(["active", "token_type", "username", "user_id"])

    /// The claims of a token, nil for none. Leaves out a stored name that has become reserved since.
    private static func claims(
        of token: AttributeClaims, _ members: JSONMembers, isStored: Bool
    ) throws(JSONFault) -> [String: String]? {
        guard let json = members.any(token.rawValue) else { return nil }
        let reserved = token == .accessToken ? reservedInAccessTokens : reserved
        var claims: [String: String] = [:]
        for member in json.members ?? [.init("", .null)] {
            if isStored, reserved.contains(member.name) { continue }
            guard let attribute = member.value.string, (1...100).contains(attribute.utf8.count),
                (1...100).contains(member.name.utf8.count), !reserved.contains(member.name), claims.count < 30
            else {
                throw JSONFault(
                    token.rawValue,
                    "an object: at most 30 names of claims, none of them the protocol's own, with the attribute of each"
                )
            }
            claims[member.name] = attribute
        }
        return claims.isEmpty ? nil : claims
    }

    private static func subjectType(
        _ text: String, sector: String?, _ redirectURIs: [RedirectURI]
    ) throws(JSONFault) -> SubjectType {
        switch text {
        case "public": return .public
        case "pairwise":
            // Core §8.1: the sector is the host of the redirect URIs, or of the document that lists them if they have
            // several. Only https proves a host: in a custom scheme, the app chooses it.
            let hosts = Set(sector.map { [RedirectURI(stored: $0).host] } ?? redirectURIs.map(\.secureHost))
            guard hosts.count == 1, let found = hosts.first, let host = found, !host.isEmpty else {
                throw JSONFault(
                    "subject_type",
                    "public, unless all redirect_uris are https and have one host or there is a sector_identifier_uri")
            }
            return .pairwise(sector: host)
        default: throw JSONFault("subject_type", "public or pairwise")
        }
    }

    private static func resource(_ text: String) throws(JSONFault) -> String {
        // RFC 8707 §2: an absolute URI without a fragment.
        guard text.utf8.count <= 500, text.firstMatch(of: /^[a-zA-Z][a-zA-Z0-9+.\-]*:[^\s#]+$/) != nil else {
            throw JSONFault("resources", "absolute URIs without a fragment")
        }
        return text
    }

    package static func address(_ members: JSONMembers, _ name: String) throws(JSONFault) -> String? {
        guard let text = try members.text(name, most: 2000) else { return nil }
        guard RedirectURI(registering: text) != nil, text.hasPrefix("https://") || text.hasPrefix("http://") else {
            throw JSONFault(name, "an https URL")
        }
        return text
    }
}
