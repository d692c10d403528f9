import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import Text
import Values

/// The members that each kind of administration document may have. Others are refused: they are misspelt, of another
/// version, or read-only.
struct DocumentMembers {
    private let names: Set<String>

    private init(_ names: [String]) { self.names = Set(names) }

    /// Throws untyped: with a typed error the optimiser of Swift 6.3 crashes in the endpoints.
    func check(_ json: JSON) throws {
        guard let other = json.members?.first(where: { !names.contains($0.name) }) else { return }
        throw JSONFault(other.name.prefix(bytes: 100), "left out: this document cannot set it")
    }

    private func and(_ names: String...) -> Self { Self(self.names + names) }
}

extension Request {
    /// The body as a JSON object with these members.
    func jsonObject(of members: DocumentMembers) throws -> JSON {
        let json = try jsonObject()
        try members.check(json)
        return json
    }
}

extension DocumentMembers {
    static let newMerchant = merchant.and("number")
    static let merchantChange = merchant.and("disabled")
    private static let merchant = Self([
        "name", "logout_reaches_backends", "skip_introduction", "logo_uri", "accent_color", "mail_templates",
    ])

    static let newClient = client.and("merchant_id")
    static let clientChange = client.and("disabled")
    private static let client = Self(
        [
            "client_name", "redirect_uris", "grant_types", "scope", "token_endpoint_auth_method", "first_party",
            "spid_compatible", "rotate_refresh_tokens", "access_token_lifetime", "refresh_token_lifetime",
            "refresh_family_lifetime", "refresh_repeat_window", "refresh_leeway", "require_pkce", "web_origins",
            "post_logout_redirect_uris", "callback_uri", "require_verified_email", "signed_responses", "tos_uri",
        ] + SPiDSettings.names + OpenIDSettings.names)

    static let user = Self(
        ["email", "email_verified", "password", "disabled", "attributes", User.phoneVerified]
            + User.claims.flatMap(\.value))

    static let newIssuer = issuerChange.and("merchant_id")
    static let issuerChange = Self([
        "issuer", "provider", "jwks", "jwks_uri", "discovery_url", "secret", "audiences", "algorithms", "create_users",
        "disabled", "nonce", "nonce_transform", "authorized_parties", "max_age", "link_by_email",
        "authoritative_domains", "app_names", "app_secret", "client_id", "client_secret", "sign_in_name", "scope",
        "signs_in_everywhere", "team_id", "key_id", "private_key",
    ])

    /// A change may repeat members that cannot change.
    static let webhook = Self([
        "merchant_id", "name", "provider", "database_id", "token_kinds", "clients", "audiences", "scope", "permissions",
        "expiration_seconds", "expiration", "refusal_status", "client_info", "identity_service_metadata", "secrets",
        "disabled",
    ])

    static let newInitialAccessToken = Self(["merchant_id", "expires_in", "max_registrations"])
}

extension Form {
    /// Refuses a query with other parameters than `declared`, with a repeated one, or with one without a value.
    func refuseUndeclared(_ declared: [String]) throws {
        var seen: Set<String> = []
        for (name, value) in pairs {
            guard declared.contains(name) else { throw Problem.unknown(name, declared: declared) }
            guard seen.insert(name).inserted else { throw Problem(parameter: name, "must be given once") }
            // `?cursor=` from an empty variable would start the list again.
            guard !value.isEmpty else { throw Problem(parameter: name, "must have a value, or be left out") }
        }
    }
}

extension Problem {
    /// `fault` follows the name of the parameter.
    init(parameter name: String, _ fault: String) {
        self.init(status: .badRequest, detail: "'\(name)' \(fault).", at: .parameter(name))
    }

    fileprivate static func unknown(_ name: String, declared: [String]) -> Problem {
        let meant = name.nearest(of: declared)
        let name = name.prefix(bytes: 100)
        let hint = meant.map { ": did you mean '\($0)'?" } ?? "."
        return Problem(
            status: .badRequest, detail: "There is no parameter '\(name)' here\(hint)",
            at: .parameter(name, meant: meant))
    }
}

extension Request {
    /// The body as a JSON object.
    func jsonObject() throws -> JSON {
        let type = headers[.contentType]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else {
            throw Problem(status: .unsupportedMediaType, detail: "The content type must be application/json.")
        }
        let bytes = try Form.bytes(of: self)
        guard let json = try JSON.body(bytes) else { throw JSONFault("", "a JSON object") }
        return json
    }
}
