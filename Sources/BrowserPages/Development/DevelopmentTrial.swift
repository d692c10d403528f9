import Directory
import HTTPSupport
import JSON
import Pages

/// A response to one of our own clients, its tokens, and the calls that were made with them.
struct DevelopmentTrial: Sendable {
    let id: String
    let client: DevelopmentClient
    /// The code that was redeemed; nil for tokens without one.
    let code: String?
    /// The response's parameters.
    let fields: [HiddenField]
    /// The newest first.
    private(set) var calls: [DevelopmentAnswerPage.Call] = []
    private(set) var accessToken: String?
    private(set) var refreshToken: String?
    private(set) var idToken: String?

    private static let mostCalls = 20

    /// - Parameter fields: may hold tokens, of an answer in the fragment.
    init(id: String, client: DevelopmentClient, code: String? = nil, fields: [HiddenField] = []) {
        self.id = id
        self.client = client
        self.code = code
        self.fields = fields
        accessToken = fields.first { $0.name == "access_token" && $0.value.isToken }?.value
        idToken = fields.first { $0.name == "id_token" && $0.value.isToken }?.value
    }

    /// Whether there is anything to show but the response's parameters.
    var hasTokens: Bool { accessToken != nil || idToken != nil }

    /// Takes what `outcome` gave: a refresh may give a new refresh token, or leave the old one.
    mutating func take(_ outcome: DevelopmentCaller.Outcome) {
        calls = Array(([outcome.call] + calls).prefix(Self.mostCalls))
        accessToken = outcome.json?["access_token"]?.string ?? accessToken
        refreshToken = outcome.json?["refresh_token"]?.string ?? refreshToken
        idToken = outcome.json?["id_token"]?.string ?? idToken
    }

    /// Something to do with its tokens.
    enum Deed: String, CaseIterable {
        case refresh, userinfo, introspect
        case revokeAccessToken = "revoke_access_token"
        case revokeRefreshToken = "revoke_refresh_token"

        var title: String {
            switch self {
            case .refresh: "Refresh"
            case .userinfo: "Userinfo"
            case .introspect: "Introspect the access token"
            case .revokeAccessToken: "Revoke the access token"
            case .revokeRefreshToken: "Revoke the refresh token"
            }
        }
    }

    var deeds: [Deed] {
        Deed.allCases.filter { deed in
            switch deed {
            case .refresh, .revokeRefreshToken: refreshToken != nil
            // A client's own token has no user.
            case .userinfo: accessToken != nil && !fields.isEmpty
            // The token of a client without a merchant is unknown to every introspection.
            case .introspect: accessToken != nil && client != .administrator
            case .revokeAccessToken: accessToken != nil
            }
        }
    }

    /// Does `deed`; nil when the tokens do not allow it.
    func call(_ deed: Deed, _ caller: DevelopmentCaller, from peer: String?) async -> DevelopmentCaller.Outcome? {
        switch (deed, accessToken, refreshToken) {
        case (.refresh, _, let token?):
            let form: [Form.Pair] = [("grant_type", "refresh_token"), ("refresh_token", token)]
            return await caller.post(Site.tokenPaths[0], form, as: client, from: peer)
        case (.userinfo, let token?, _): return await caller.get("/oauth/userinfo", bearer: token, from: peer)
        case (.introspect, let token?, _):
            // A public client may not introspect (RFC 7662 §2.1).
            let asking = client == .app ? DevelopmentClient.backend : client
            return await caller.post("/oauth/introspect", [("token", token)], as: asking, from: peer)
        case (.revokeAccessToken, let token?, _), (.revokeRefreshToken, _, let token?):
            return await caller.post("/oauth/revoke", [("token", token)], as: client, from: peer)
        default: return nil
        }
    }
}
