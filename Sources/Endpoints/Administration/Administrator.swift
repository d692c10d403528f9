import HTTP
import JOSE
public import OAuth
import OpenID
import Storage
import Values

/// Who administers: the platform, or one merchant.
enum Administrator: Sendable, Equatable {
    case platform
    case merchant(Merchant.ID, client: Client.ID)

    /// The merchant it is confined to.
    var confines: Merchant.ID? { if case .merchant(let id, _) = self { id } else { nil } }

    /// Whether it may see and touch what belongs to `merchant`.
    func covers(_ merchant: Merchant.ID?) -> Bool {
        switch self {
        case .platform: true
        case .merchant(let own, _): Merchant.same(own, merchant)
        }
    }

    /// The merchant that `json` names, or else its own: for whom something is made. `what` it may make for no other.
    func merchant(_ json: JSON, toMake what: String) throws -> Merchant.ID {
        let named = try JSONMembers(json).text("merchant_id").map { Merchant.ID($0) }
        guard let merchant = named ?? confines else { throw JSONFault("merchant_id", "given") }
        guard covers(merchant) else {
            throw Problem.forbidden("You may make \(what) of your own merchant only.", member: "merchant_id")
        }
        return merchant
    }

    func requirePlatform(_ what: String) throws {
        guard case .platform = self else {
            throw Problem.forbidden("Only the platform's administrator may \(what).")
        }
    }

    /// Admin scopes are granted by the platform only.
    func permit(granting scope: Scope) throws {
        guard confines == nil || scope == scope.withoutAdministration else {
            throw Problem.forbidden("Admin scopes are granted by the platform only.", member: "scope")
        }
    }

    /// A change of a client, judged in its own transaction: what the platform took a moment ago stays taken.
    func permit(_ client: Client, toBecome changed: Client) throws {
        try permit(granting: Scope(changed.scope.tokens.filter { !client.scope.contains($0) }))
        try permit(enabling: client.disabledAt != nil && changed.disabledAt == nil)
    }

    func permit(_ webhook: DittoWebhook, toBecome changed: DittoWebhook) throws {
        try permit(enabling: webhook.disabledAt != nil && changed.disabledAt == nil)
    }

    func permit(deleting webhook: DittoWebhook) throws {
        try permit(enabling: webhook.disabledAt != nil)
    }

    /// Whoever disabled it may have been the platform, against this very merchant.
    func permit(enabling: Bool) throws {
        guard confines == nil || !enabling else {
            throw Problem.forbidden("What is disabled is enabled by the platform only.", member: "disabled")
        }
    }
}

/// Decides who administers.
public struct AdministratorGate: Sendable {
    private let tokens: AccessTokens

    public init(tokens: AccessTokens) { self.tokens = tokens }

    /// Throws when who asked does not administer any more, or less than before.
    typealias Confirm = @Sendable (any Transaction) throws -> Void

    func administrator(_ request: Request) async throws -> Administrator {
        try Self.role(of: try await tokens.require(request))
    }

    /// The same, with what is asked again in the transaction that writes: a password is hashed before it.
    func entry(_ request: Request) async throws -> (administrator: Administrator, confirm: Confirm) {
        let token = try await tokens.require(request)
        let administrator = try Self.role(of: token)
        return (
            administrator,
            { [tokens] db in
                guard try Self.role(of: try tokens.again(token, in: db)) == administrator else {
                    throw OAuthError.scopeMissing(Scope.admin)
                }
            }
        )
    }

    /// A client's own token with an admin scope; a person's never is, whatever its scope says.
    private static func role(of token: AccessToken) throws -> Administrator {
        guard token.user == nil else {
            throw OAuthError(
                .insufficientScope, "person_administers", "Administration takes a client_credentials token.")
        }
        // What the client was when the token was issued is not enough: the scope may have been taken from it since.
        func has(_ scope: String) -> Bool { token.scope.contains(scope) && token.clientScope.contains(scope) }
        if has(Scope.admin), token.merchant == nil { return .platform }
        if has(Scope.adminMerchant), let merchant = token.merchant {
            return .merchant(merchant, client: token.client)
        }
        throw OAuthError.scopeMissing(Scope.admin)
    }
}

/// One page of a list and where the next begins: an opaque cursor.
struct ListPage {
    static let size = 100
    /// A page ends early when what it shows is this large, in bytes: others wait while it is written.
    private static let most = 256 * 1024
    let after: String
    let count: Int

    init(_ request: Request) throws {
        let query = try request.query
        after = query["cursor"] ?? ""
        count = query["limit"].flatMap(Int.init).map { min(max($0, 1), Self.size) } ?? Self.size
    }

    /// `items` holds one more than the page if there is a next one.
    func response<Item>(_ items: [Item], json: (Item) -> JSON, cursor: (Item) -> String) -> Response {
        var shown: [JSON] = []
        var size = 0
        for item in items.prefix(count) where size < Self.most {
            let item = json(item)
            size += item.text.utf8.count
            shown.append(item)
        }
        let next = items.count > shown.count ? items.prefix(shown.count).last.map { JSON.string(cursor($0)) } : nil
        return .json(.members(["items": .array(shown), "next": next ?? .null]))
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

extension SpindleContext {
    func identifier<Entity>(_ name: String = "id") throws -> Identifier<Entity> {
        Identifier(try parameters.require(name))
    }
}
