public import Directory
import HTTP
public import HTTPSupport
import JSON
import Logging
import OAuth
import Values

/// `/session` and `/v2/session`: tells a page of a client whether there is a session, as versions 4 and 5 of SPiD's SDK
/// for browsers ask: by a fetch with the browser's cookies.
///
/// The one place that lets pages of other origins read an answer which depends on a cookie (Fetch §3.2.5): only those
/// of the client's own registered origins, which learn no more than by `/ajax/hasSession.js`, and only of
/// SPiD-compatible clients. Nothing changes here.
public struct SessionServiceEndpoint: Endpoint {
    private let clients: Clients
    private let reports: SessionReports
    private let sessions: PageSessions

    public init(clients: Clients, reports: SessionReports, sessions: PageSessions) {
        self.clients = clients
        self.reports = reports
        self.sessions = sessions
    }

    public func add(to router: inout Routes) {
        router.get("/session") { request, context in
            try await answer(request, context) { ScriptCall.refusal(401, "No session found!", response: $0) }
        }
        // Version 5 takes nobody for an answer, and an error for a failure.
        router.get("/v2/session") { request, context in
            try await answer(request, context) { members in
                .object([.init("result", false)] + members + [.init("userStatus", "unknown")])
            }
        }
    }

    private func answer(
        _ request: Request, _ context: SpindleContext, nobody: ([JSON.Member]) -> JSON
    ) async throws -> Response {
        func refused(_ status: Status, _ reason: String, _ text: String) -> Response {
            context.logger.info("refused", metadata: ["reason": "\(reason)"])
            return .plain(text, status: status)
        }
        guard let parameters = try? request.query.parameters, let id = parameters.sessionClient else {
            return refused(
                .badRequest, "client_missing", "client_sdrn must be sdrn:spid.no:client: and the client's id.")
        }
        guard let client = try await clients.findLive(id), client.spidCompatible else {
            return refused(.forbidden, "unknown_client", "The client is unknown, disabled, or not SPiD-compatible.")
        }
        // Browsers set it on every such call, and pages cannot.
        guard let origin = request.headers[.origin], client.webOrigins.contains(origin) else {
            return refused(
                .forbidden, "origin_not_registered", "The web_origins of the client lack the origin of this page.")
        }
        var response = Response.json(try await told(request, client, nobody: nobody))
        response.headers[.cacheControl] = "no-store"
        response.headers[.vary] = "Origin"
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        return response
    }

    private func told(
        _ request: Request, _ client: Client, nobody: ([JSON.Member]) -> JSON
    ) async throws -> JSON {
        switch try await reports.report(request, client) {
        case .nobody:
            // The one member that lets the SDK go there.
            if let address = try await sessions.renewal(for: request, client) {
                return .members(["redirectURL": .string(address)])
            }
            return nobody(reports.common(for: SessionReports.shortMemory))
        case .stranger(let time):
            return .object(
                [.init("result", false)] + reports.common(for: time) + [.init("userStatus", "notConnected")])
        case .user(let person):
            return try reports.signed(
                [.init("result", .bool(person.hasAgreed))] + reports.common(for: person.lifetime)
                    + [.init("userStatus", "connected")] + person.members + own(person), for: client)
        }
    }

    /// What only this SDK reads. Spindle tracks nobody, and a pair of user and client is the user's id there.
    private func own(_ person: SessionReports.KnownUser) -> [JSON.Member] {
        let number = person["userId"]?.integer
        let json: JSON = .members([
            "sdrn": number.map { .string("sdrn:spid.no:user:\($0)") }, "pairId": person["id"], "tracking": false,
        ])
        return json.members ?? []
    }
}

extension OAuth.Parameters {
    /// The client that a page of its own asks for.
    var sessionClient: Client.ID? {
        guard let sdrn = self[.clientSDRN] else { return self[.clientID].map { Client.ID($0) } }
        return Client.ID(sdrn: sdrn)
    }
}
