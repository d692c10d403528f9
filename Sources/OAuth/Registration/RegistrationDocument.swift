public import Directory
public import JSON
import Values

/// A client's metadata at registration (RFC 7591 §2, OpenID Connect Registration §2), with defaults filled in:
/// everything that the client may set. Other members are ignored.
struct RegistrationDocument: Sendable {
    let json: JSON

    /// The scope that a self-registered client may ask users for.
    static let scope = Scope.standard
    /// It acts for users who came to it themselves: never with their passwords, and never for itself.
    static let grantTypes: Set<GrantType> = [.authorizationCode, .implicit, .refreshToken]

    /// The defaults. Those that depend on other members follow below.
    private static let defaults: KeyValuePairs<String, JSON> = [
        "client_name": .string(Client.unnamed), "redirect_uris": .array([]), "application_type": "web",
        "token_endpoint_auth_method": .null, "token_endpoint_auth_signing_alg": .null, "jwks": .null,
        "jwks_uri": .null, "client_uri": .null, "logo_uri": .null, "policy_uri": .null, "tos_uri": .null,
        "initiate_login_uri": .null, "contacts": .null, "software_id": .null, "software_version": .null,
        "subject_type": "public", "sector_identifier_uri": .null, "id_token_signed_response_alg": "RS256",
        "userinfo_signed_response_alg": .null, "request_object_signing_alg": .null, "request_uris": .array([]),
        "default_max_age": .null,
        "post_logout_redirect_uris": .array([]), "backchannel_logout_uri": .null,
        "backchannel_logout_session_required": false,
    ]

    /// The names of the members, in the order in which they are shown.
    static let members: [String] = defaults.map(\.key) + ["grant_types", "response_types", "scope"]

    /// Reads `sent`. With `base`, it replaces that client's metadata: a repeated value that administration granted
    /// beyond the defaults stays.
    init(_ sent: JSON, over base: Client? = nil) throws {
        let members = try JSONMembers(sent)
        guard members.any("software_statement") == nil else { throw OAuthError.softwareStatement }
        let responses = try Self.responseTypes(members)
        // RFC 7592 §2.2: a client repeats the metadata it was shown, even if administration has removed some since.
        let repeats =
            base.map { base in
                ["grant_types", "response_types", "redirect_uris"].allSatisfy { members.any($0) == base.json[$0] }
                    && members.any("application_type") ?? "web" == base.json["application_type"] ?? "web"
            } ?? false
        let grants = try Self.grantTypes(members, for: responses, over: base, repeats: repeats)
        var document = Self.defaults.map { JSON.Member($0.key, members.any($0.key) ?? $0.value) }
        document.append(.init("grant_types", .array(grants.map { .string($0.name) })))
        document.append(.init("response_types", .array(responses.map { .string($0.description) })))
        document.append(.init("scope", .string(try Self.scope(members, over: base).description)))
        json = .object(document)
        if !repeats { try Self.checkRedirectURIs(members, grants) }
    }

    private static func responseTypes(_ members: JSONMembers) throws(JSONFault) -> [ResponseType] {
        guard let list = try members.list("response_types") else { return [.code] }
        let types = list.compactMap { ResponseType($0) }
        guard !list.isEmpty, types.count == list.count else {
            throw JSONFault("response_types", "of \(ResponseType.all.map { "'\($0)'" }.joined(separator: ", "))")
        }
        return types
    }

    /// RFC 7591 §2.1: a response type requires its grant. Without `grant_types`, they follow from the response types.
    private static func grantTypes(
        _ members: JSONMembers, for responses: [ResponseType], over base: Client?, repeats: Bool
    ) throws(JSONFault) -> [GrantType] {
        var needed: [GrantType] = []
        if responses.contains(where: { $0.contains(.code) }) { needed.append(.authorizationCode) }
        if responses.contains(where: \.isDirect) { needed.append(.implicit) }
        let list = try members.list("grant_types")
        let types = list?.map(GrantType.init) ?? needed
        if let limit = base?.grantLimit, !limit.isSuperset(of: types) {
            let names = limit.map(\.name).sorted().joined(separator: ", ")
            throw JSONFault("grant_types", "of \(names): the merchant's administrator chose them")
        }
        guard types.allSatisfy(grantTypes.union(base?.grantTypes ?? []).contains) else {
            let names = grantTypes.map(\.name).sorted().joined(separator: ", ")
            throw JSONFault("grant_types", "of \(names) for a client that registers itself")
        }
        for grant in needed where !repeats && !types.contains(grant) {
            throw JSONFault("grant_types", "with \(grant) for its response_types")
        }
        return types
    }

    private static func scope(_ members: JSONMembers, over base: Client?) throws(JSONFault) -> Scope {
        let isEmpty = base != nil && members.any("scope")?.string == ""
        guard let text = isEmpty ? "" : try members.text("scope", most: 2000) else { return base?.scope ?? scope }
        let asked = isEmpty ? .empty : Scope(parsing: text)
        if let limit = base?.scopeLimit {
            guard let asked, asked.isSubset(of: limit) else {
                throw JSONFault("scope", "of \(limit): the merchant's administrator chose it")
            }
            return asked
        }
        guard let asked, asked.isSubset(of: scope.union(base?.scope ?? .empty)) else {
            throw JSONFault("scope", "of \(scope) for a client that registers itself")
        }
        return asked
    }

    private static func checkRedirectURIs(_ members: JSONMembers, _ grants: [GrantType]) throws(JSONFault) {
        let uris = try members.list("redirect_uris") ?? []
        let isSentBack = grants.contains(.authorizationCode) || grants.contains(.implicit)
        guard !isSentBack || !uris.isEmpty else {
            throw JSONFault("redirect_uris", "given: users are sent back there")
        }
        // OpenID Connect Registration §2, application_type: a token in a fragment must not go to a local address,
        // unless the client is a native app.
        guard grants.contains(.implicit), try members.text("application_type") != "native" else { return }
        guard uris.allSatisfy({ $0.hasPrefix("https://") && RedirectURI(stored: $0).host != "localhost" }) else {
            throw JSONFault("redirect_uris", "https and not localhost for a web application with the implicit grant")
        }
    }
}

extension Client {
    /// The registration as a self-registered client sees it.
    public var registration: [JSON.Member] {
        let shown = Set(RegistrationDocument.members + ["client_id", "client_id_issued_at"])
        return (json.members ?? []).filter { shown.contains($0.name) }
    }
}
