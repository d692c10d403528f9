public import Directory
import HTTP
public import HTTPSupport
import JSON

/// `/ajax/hasSession.js`, `/rpc/hasSession.js`: tells a client's web page, by a script, whether there is a session.
public struct HasSessionEndpoint: Endpoint {
    private let clients: Clients
    private let reports: SessionReports
    private let site: Site

    public init(clients: Clients, reports: SessionReports, site: Site) {
        self.clients = clients
        self.reports = reports
        self.site = site
    }

    public func add(to router: inout Routes) {
        router.get("/ajax/hasSession.js", .hasSession, use: tell)
        router.get("/rpc/hasSession.js", .hasSession, use: tell)
    }

    @Sendable private func tell(_ request: Request, context: SpindleContext) async throws -> Response {
        try await ScriptCall.answer(request, context, clients: clients) { client in
            ScriptCall.Answer(json: try await answer(request, client))
        }
    }

    private func answer(_ request: Request, _ client: Client) async throws -> JSON {
        let nothing = JSON.Member("visitor", ScriptCall.visitor())
        // SPiD's SDK for JavaScript asks at this host first, and after this error at the server's own.
        guard request.host != site.hostWithoutSession else {
            return ScriptCall.refusal(
                401, "Ask \(site.origin) instead.", type: "LoginException",
                response: reports.common(for: SessionReports.shortMemory) + [nothing])
        }
        switch try await reports.report(request, client) {
        case .signedOut:
            return ScriptCall.refusal(
                401, "No session found!", response: reports.common(for: SessionReports.shortMemory) + [nothing])
        case .notConnected(let time):
            return .object(
                [.init("result", false)] + reports.common(for: time) + [nothing, .init("userStatus", "notConnected")])
        case .user(let user):
            return try reports.signed(
                [.init("result", .bool(user.hasAgreed))] + reports.common(for: user.lifetime)
                    + [.init("visitor", ScriptCall.visitor(.object(user.members))), .init("userStatus", "connected")]
                    + user.members, for: client)
        }
    }
}
