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
    private let names: [String]

    private init(_ names: [String]) { self.names = names }

    /// Throws untyped: with a typed error the optimiser of Swift 6.3 crashes in the endpoints.
    func check(_ json: JSON) throws {
        let others = (json.members ?? []).map(\.name).filter { !names.contains($0) }
        guard let first = others.first else { return }
        let misspelt = others.lazy.filter { !Self.readOnly.contains($0) }
            .compactMap { name in meant(by: name).map { (name: name, meant: $0) } }.first
        throw Problem.unknown(misspelt?.name ?? first, meant: misspelt?.meant, of: others)
    }

    /// Members that answers have and most documents cannot set: they are no misspelt others.
    private static let readOnly: Set = [
        "id", "client_id", "client_id_issued_at", "client_secret", "client_secret_expires_at", "sign_secret", "secrets",
        "user_id", "sub", "merchant_id", "number", "created_at", "updated_at", "registration_client_uri", "disabled",
    ]

    /// `name` is what other servers call `client_name`.
    private func meant(by name: String) -> String? {
        names.contains("client_\(name)") ? "client_\(name)" : name.nearest(of: names)
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
    private static let client = Self(ClientSetting.all.map(\.member))

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

    /// The refusal of `name`, one of the members that the document cannot have. All are named, so that one who sends
    /// back what was read corrects it once.
    fileprivate static func unknown(_ name: String, meant: String?, of others: [String]) -> Problem {
        let name = name.prefix(bytes: 100)
        let rest = others.map { $0.prefix(bytes: 100) }.filter { meant == nil || $0 != name }
        let list = rest.prefix(20).joined(separator: ", ")
        let place = Place.member(name, meant: meant)
        guard let meant else {
            return Problem(status: .badRequest, detail: "Leave out what is unknown or read-only: \(list).", at: place)
        }
        return Problem(
            status: .badRequest,
            detail: "There is no member '\(name)' here: did you mean '\(meant)'?"
                + (rest.isEmpty ? "" : " Leave out what is unknown or read-only: \(list)."), at: place)
    }

    fileprivate static func unknown(_ name: String, declared: [String]) -> Problem {
        let meant = name.nearest(of: declared)
        let name = name.prefix(bytes: 100)
        let all = declared.isEmpty ? "." : ": there are \(declared.sorted().joined(separator: ", "))."
        let hint = meant.map { ": did you mean '\($0)'?" } ?? all
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
        switch try JSON.body(bytes) {
        case .success(let json): return json
        case .failure(let fault):
            throw Problem(status: .badRequest, detail: "The body must be a JSON object; this one \(fault.text).")
        }
    }
}
