public import Directory
import HTTP
public import HTTPSupport
import JSON

/// `/session` and `/v2/session`: tells a page of a client whether there is a session, as versions 4 and 5 of SPiD's SDK
/// for browsers ask: by a fetch with the browser's cookies.
///
/// They learn no more than by `/ajax/hasSession.js`, and nothing changes here.
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
        try await PageFetch.answer(request, context, clients: clients) { client in
            try await told(request, client, nobody: nobody)
        }
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
    private func own(_ person: SessionReports.User) -> [JSON.Member] {
        let number = person["userId"]?.integer
        let json: JSON = .members([
            "sdrn": number.map { .string("sdrn:spid.no:user:\($0)") }, "pairId": person["id"], "tracking": false,
        ])
        return json.members ?? []
    }
}
