public import Directory
import HTTP
import JSON
public import OAuth
import SPiD
public import Values

/// `token/{token}/authentication`: the user and client of a token, for a server that received it.
///
/// The call counts as presenting the token, as introspection does: only its owner can have presented it.
public struct TokenAuthenticationResource: SPiDResource {
    private let tokens: AccessTokens
    private let clients: Clients
    private let merchants: MerchantNumbers
    private let clock: any WallClock

    public init(tokens: AccessTokens, clients: Clients, merchants: MerchantNumbers, clock: any WallClock) {
        self.tokens = tokens
        self.merchants = merchants
        self.clients = clients
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "token/{token}/authentication", name: "Authenticate token",
                controller: "Authorization.authenticate", token: .unread, answer: tell)
        ]
    }

    @Sendable private func tell(_ call: SPiDCall) async throws -> SPiDAnswer {
        let token: AccessToken
        do {
            token = try await tokens.present(Secret(call.path["token"] ?? ""))
        } catch let error as OAuthError where error.code == .invalidToken {
            throw SPiDRefusal(.notFound, "Token is invalid", reason: error.reason)
        }
        try await check(token)
        let merchant = try await merchants.number(of: token.merchant)
        return .element(
            "Authorization",
            .members([
                // The token's fingerprint, which cannot be used as a token.
                "id": .string(token.fingerprint.text), "clientId": .string(token.client.text),
                "userId": token.user.map { .string($0.description) } ?? .null,
                "merchantId": merchant.map { .string("\($0)") } ?? .null,
                "isAdmin": .bool(token.scope.contains(Scope.admin)),
                "type": token.user == nil ? "CLIENT" : "USER",
                "expiresIn": .integer((token.expiresAt - clock.now).seconds),
            ]))
    }

    /// The caller is unknown. A token of a client that is not SPiD-compatible shows only what `me` shows; a third
    /// party's token outside SPiD shows nothing, as in every call that is about anything but the caller.
    private func check(_ token: AccessToken) async throws {
        try token.requireUs()
        guard !token.may(.askAboutUsers) else { return }
        guard token.user != nil else { throw OAuthError.userTokenNeeded }
        guard let client = try await clients.findLive(token.client), client.may(.useSPiDAPI),
            !client.openID.isPairwise
        else {
            throw SPiDRefusal.notSPiDCompatible
        }
    }
}
