public import Authentication
import Cryptography
public import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Values

/// `logins` and `user/{id}/logins`: the attempts to sign in at a client, or at any client of its merchant.
public struct LoginResource: SPiDResource {
    private let logins: Logins
    private let connectedUsers: ConnectedUsers
    private let finder: UserFinder
    private let merchants: MerchantNumbers

    public init(logins: Logins, connectedUsers: ConnectedUsers, connections: Connections, merchants: MerchantNumbers) {
        self.logins = logins
        self.connectedUsers = connectedUsers
        self.merchants = merchants
        finder = UserFinder(connectedUsers: connectedUsers, connections: connections, merchants: merchants)
    }

    public var routes: [SPiDRoute] {
        let optional = SPiDCall.listParameters + ["ip", "status"]
        return [
            SPiDRoute(
                .get, "logins", name: "List logins", controller: "Login.logins", token: .client,
                optional: optional + ["userId"]
            ) { call in
                guard let user = call["userId"] else { return try await list(nil, call) }
                // An import may have kept the uuid of a user that the merchant does not know: a uuid without a user
                // gets the same answer.
                guard let id = try await connectedUsers.id(spid: user) ?? (UserUUID.hasForm(user) ? UserID(0) : nil)
                else {
                    throw SPiDRefusal.malformed("userId", "a user's id or uuid")
                }
                return try await list(id, call)
            },
            SPiDRoute(
                .get, "user/{id}/logins", name: "List logins of a user", controller: "User.user_logins",
                token: .either, optional: optional
            ) { call in
                let caller = try call.caller
                try caller.requireOwnContext(for: "logins")
                let wanted = try await finder.user(named: call.path["id"] ?? "", for: caller)
                let found = try await finder.find(wanted, for: caller)
                return try await list(found.match.user.id, call)
            },
        ]
    }

    private func list(_ user: UserID?, _ call: SPiDCall) async throws -> SPiDAnswer {
        var query = Logins.Query()
        query.user = user
        query.address = call["ip"]
        query.part = try call.part()
        query.span = try call.span()
        if let status = call["status"] {
            guard ["true", "false"].contains(status) else { throw SPiDRefusal.malformed("status", "true or false") }
            query.succeeded = status == "true"
        }
        // A third-party client's users did not allow it their addresses and devices.
        let showsPlace = try call.caller.client.may(.seeUsersUnasked)
        if query.address != nil { try call.caller.requireFirstParty() }
        let isWide = try call.filters(known: ["merchant"]).contains("merchant")
        if isWide { try call.caller.requireFirstParty() }
        // Like other members of a user: what the token does not cover is absent, except for SPiD's clients.
        let (client, token) = (try call.caller.client, try call.caller.token)
        let showsEmail =
            showsPlace && (token.user == nil || client.may(.ignoreScope) || token.scope.contains("email"))
        let found = try await logins.list(query, for: try call.caller.clientScope(isWide: isWide))
        let merchant = try await merchants.number(of: try call.caller.contextClient.merchant)
        return .collection(
            "Login", found.map { $0.spid(showsEmail: showsEmail, showsPlace: showsPlace, merchant: merchant) },
            offset: query.part.offset)
    }
}

extension Login {
    /// The login in SPiD's members, with the number of the merchant whose clients are listed. Spindle records no
    /// referers: their members are empty.
    fileprivate func spid(showsEmail: Bool, showsPlace: Bool, merchant: Int64?) -> JSON {
        let email = showsEmail ? email ?? "" : ""
        let (address, userAgent) = showsPlace ? (address, userAgent) : ("", "")
        let label = Digest.md5Label(Array("\(email)\(address)\(userAgent)".utf8))
        return .members([
            "id": .string(id.text), "clientId": .string(client.text),
            "merchantId": .string(merchant.map { "\($0)" } ?? ""),
            "userId": .string(user.description), "email": .string(email), "type": .string(kind.rawValue),
            "status": succeeded ? "true" : "false", "ip": .string(address), "userAgent": .string(userAgent),
            "referer": "", "initialReferer": .null, "provider": provider.map { .string($0) } ?? .null,
            "created": .string(createdAt.spidText),
            "hash": .string(label.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()),
            "trackingRef": false, "trackingTag": false,
        ])
    }
}
