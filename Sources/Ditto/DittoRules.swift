import Directory
import JSON
import OAuth
import Values

/// Which users a webhook admits, and what it answers.
public struct DittoRules: Sendable {
    /// The kinds of token that an app may give Ditto.
    public enum TokenKind: String, Sendable, CaseIterable {
        case opaqueAccessToken = "access_token"
        case jwtAccessToken = "jwt_access_token"
        case idToken = "id_token"
    }

    /// The webhook's name in Ditto's portal, if requests must name it.
    let provider: String?
    /// The app or database that requests must name, if any.
    let database: String?
    let tokens: Set<TokenKind>
    /// The clients whose tokens are accepted; empty means the merchant's first-party clients.
    let clients: [Client.ID]
    /// The accepted audiences of an access token (RFC 8707); empty means this server only.
    let audiences: [String]
    /// The scope that an access token must have.
    let scope: Scope
    let permissions: DittoPermissions
    /// How long Ditto may admit a user, if the token lives that long.
    let longest: Duration
    /// Whether Ditto may admit a user for `longest` even when the token ends before.
    let outlivesToken: Bool
    /// The HTTP status of a refusal.
    public let refusalStatus: Int
    let constants: DittoConstants

    func takes(_ kind: TokenKind) -> Bool { tokens.contains(kind) }

    func takes(tokensOf client: Client.ID, isUsual: Bool) -> Bool {
        clients.isEmpty ? isUsual : clients.contains(client)
    }

    func takes(audience: String, issuer: String) -> Bool {
        audiences.isEmpty ? audience == issuer : audiences.contains(audience)
    }
}

extension DittoRules {
    static let lifetimes: ClosedRange<Int64> = 60...2_592_000
    /// The statuses that a refusal may have: success, or that the user is not admitted.
    static let refusalStatuses = [200, 401, 403]

    /// Reads `json` over `base`, or over the defaults. A null member is reset to its default.
    init(_ json: JSON, over base: DittoRules? = nil) throws(JSONFault) {
        let members = try JSONMembers(json)
        provider = members.has("provider") ? try members.text("provider") : base?.provider
        database = members.has("database_id") ? try members.text("database_id") : base?.database
        tokens = members.has("token_kinds") ? try Self.kinds(members) : base?.tokens ?? Self.accessTokens
        clients = members.has("clients") ? try Self.clients(members) : base?.clients ?? []
        audiences = members.has("audiences") ? try Self.audiences(members) : base?.audiences ?? []
        scope = members.has("scope") ? try Self.scope(members) : base?.scope ?? .empty
        permissions = try Self.permissions(members, over: base)
        let longest = try members.seconds("expiration_seconds", within: Self.lifetimes)
        self.longest = longest ?? (members.has("expiration_seconds") ? nil : base?.longest) ?? .hours(8)
        outlivesToken = members.has("expiration") ? try Self.outlivesToken(members) : base?.outlivesToken ?? false
        refusalStatus = members.has("refusal_status") ? try Self.status(members) : base?.refusalStatus ?? 200
        constants = try DittoConstants(members, over: base?.constants)

        guard takes(.idToken) else { return }
        guard !clients.isEmpty else { throw JSONFault("clients", "given when ID tokens are accepted: their audience") }
        guard scope.isEmpty else { throw JSONFault("scope", "absent when ID tokens are accepted: they have none") }
    }

    private static let accessTokens: Set<TokenKind> = [.opaqueAccessToken, .jwtAccessToken]

    private static func kinds(_ members: JSONMembers) throws(JSONFault) -> Set<TokenKind> {
        guard let names = try members.list("token_kinds") else { return accessTokens }
        let kinds = names.compactMap(TokenKind.init)
        guard !names.isEmpty, kinds.count == names.count else {
            throw JSONFault("token_kinds", "of \(TokenKind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return Set(kinds)
    }

    private static func clients(_ members: JSONMembers) throws(JSONFault) -> [Client.ID] {
        try (members.list("clients") ?? []).map { Client.ID($0) }
    }

    private static func audiences(_ members: JSONMembers) throws(JSONFault) -> [String] {
        let list = try members.list("audiences") ?? []
        guard list.allSatisfy({ (1...1000).contains($0.utf8.count) }) else {
            throw JSONFault("audiences", "strings of 1 to 1000 bytes")
        }
        return list
    }

    private static func scope(_ members: JSONMembers) throws(JSONFault) -> Scope {
        guard let text = try members.text("scope", most: 1000) else { return .empty }
        guard let scope = Scope(parsing: text) else {
            throw JSONFault("scope", "tokens of printable ASCII separated by single spaces")
        }
        return scope
    }

    private static func permissions(
        _ members: JSONMembers, over base: DittoRules?
    ) throws(JSONFault) -> DittoPermissions {
        if let json = members.any("permissions") { return try DittoPermissions(json) }
        guard let permissions = base?.permissions, !members.has("permissions") else {
            throw JSONFault("permissions", "given: what Ditto lets users read and write")
        }
        return permissions
    }

    private static func outlivesToken(_ members: JSONMembers) throws(JSONFault) -> Bool {
        switch try members.text("expiration") {
        case nil, "token": return false
        case "own": return true
        default: throw JSONFault("expiration", "token or own")
        }
    }

    private static func status(_ members: JSONMembers) throws(JSONFault) -> Int {
        guard let value = members.any("refusal_status") else { return 200 }
        guard let status = value.integer, refusalStatuses.contains(Int(clamping: status)) else {
            throw JSONFault("refusal_status", "one of \(refusalStatuses.map(String.init).joined(separator: ", "))")
        }
        return Int(status)
    }

    /// The JSON for the admin API and for storage.
    var json: JSON {
        .members([
            "provider": provider.map { .string($0) }, "database_id": database.map { .string($0) },
            "token_kinds": .array(TokenKind.allCases.filter(takes).map { .string($0.rawValue) }),
            "clients": .array(clients.map { .string($0.text) }),
            "audiences": .array(audiences.map { .string($0) }),
            "scope": scope.isEmpty ? nil : .string(scope.description), "permissions": permissions.json,
            "expiration_seconds": .integer(longest.seconds), "expiration": outlivesToken ? "own" : "token",
            "refusal_status": .integer(Int64(refusalStatus)),
            "client_info": constants.clientInfo, "identity_service_metadata": constants.metadata,
        ])
    }
}
