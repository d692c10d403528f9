import HTTPTypes
public import Hummingbird
public import Identity
import JOSE
import Logging
public import OAuth
public import Values

/// `/ajax/hasSession.js`, `/rpc/hasSession.js`: tells a web page of a client, by a script, whether there is a session.
///
/// A script is readable by whatever page embeds it, so it is given only to pages whose origins the client registered.
public struct HasSessionEndpoint: Endpoint {
    private let site: Site
    private let clients: Clients
    private let sessions: Sessions
    private let accounts: Accounts
    private let apps: ConnectedApps
    private let clock: any WallClock

    public init(
        site: Site, clients: Clients, sessions: Sessions, accounts: Accounts, apps: ConnectedApps,
        clock: any WallClock
    ) {
        self.site = site
        self.clients = clients
        self.sessions = sessions
        self.accounts = accounts
        self.apps = apps
        self.clock = clock
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        router.get("/ajax/hasSession.js", use: tell)
        router.get("/rpc/hasSession.js", use: tell)
    }

    @Sendable private func tell(_ request: Request, context: SpindleContext) async throws -> Response {
        guard let query = try? request.query, let callback = query["callback"], Self.isCallback(callback) else {
            return .plain("callback must be 1 to 64 of the characters A-Z a-z 0-9 . _ $", status: .badRequest)
        }
        guard let id = query["client_id"], let client = try await clients.findLive(Client.ID(id)),
            let origin = request.webOrigin, client.webOrigins.contains(origin)
        else {
            context.logger.info("refused", metadata: ["reason": "origin_not_registered"])
            return .plain("Unknown client_id, or its web_origins lack the origin of this page.", status: .forbidden)
        }
        return .script("/**/SPiD.Talk.response('\(callback)', \(try await answer(request, client).text));")
    }

    /// What is written into the script as it came: nothing that could end the string, or the name of anything.
    static func isCallback(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9_.$]{1,64}/) != nil }

    private func answer(_ request: Request, _ client: Client) async throws -> JSON {
        let now = clock.now
        let base = site.origin.split(separator: "/").last?.split(separator: ":").first.map(String.init)
        guard let session = try await sessions.of(request, site), session.kind.isGood(for: client) else {
            return .members([
                "error": .members([
                    "code": .integer(401), "type": "UserException", "description": "No session found!",
                ]),
                "response": .members([
                    "result": .bool(false), "serverTime": .integer(now.seconds),
                    "baseDomain": base.map { .string($0) },
                ]),
            ])
        }
        let scope = try await apps.scope(of: client.id, for: session.account)
        var person = JSON.members([:])
        if let scope { person = try await self.person(session.account, client, scope) }
        let known: JSON = .members([
            "result": .bool(true), "serverTime": .integer(now.seconds),
            "expiresIn": .integer((session.expiry(usedAt: now) - now).seconds), "baseDomain": base.map { .string($0) },
            "userStatus": scope == nil ? "notConnected" : "connected",
        ])
        return .object((known.members ?? []) + (person.members ?? []))
    }

    /// Who it is: for a client the person is connected to. Names are for a merchant's own, or by the scope.
    private func person(_ id: AccountID, _ client: Client, _ scope: Scope) async throws -> JSON {
        let mayName = client.firstParty || scope.contains("profile")
        let profile = mayName ? try await accounts.find(id)?.profile : nil
        return .members([
            "userId": .integer(id.number), "id": .string(id.description), "displayName": profile?["name"],
            "givenName": profile?["given_name"], "familyName": profile?["family_name"], "gender": profile?["gender"],
            "photo": profile?["picture"],
        ])
    }
}

extension Request {
    /// The origin of the page that asks: what the browser says it is, else that of the page's address.
    fileprivate var webOrigin: String? {
        if let origin = headers[.origin] { return origin }
        guard let referer = headers[.referer], let scheme = referer.firstRange(of: "://") else { return nil }
        return String(referer[..<scheme.upperBound] + referer[scheme.upperBound...].prefix { !"/?#".contains($0) })
    }
}

extension Response {
    /// A script that only this page gets. Other sites may embed it, which browsers would otherwise be told to refuse;
    /// that no cache keeps it makes a `Vary` superfluous.
    fileprivate static func script(_ text: String) -> Response {
        var response = plain(text, status: .ok)
        response.headers[.contentType] = "application/javascript; charset=utf-8"
        response.headers[.crossOriginResourcePolicy] = "cross-origin"
        return response
    }

    fileprivate static func plain(_ text: String, status: HTTPResponse.Status) -> Response {
        let headers: HTTPFields = [
            .contentType: "text/plain; charset=utf-8", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension HTTPField.Name {
    fileprivate static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy") ?? .from
}
