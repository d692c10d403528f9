public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OpenID

/// `/session` and `/v2/session`: tells a page of a client whether there is a session, for versions 4 and 5 of SPiD's
/// SDK for browsers, which fetch it with the browser's cookies.
///
/// They learn no more than by `/ajax/hasSession.js`, and nothing changes here.
public struct SessionServiceEndpoint: Endpoint {
    private let clients: Clients
    private let reports: SessionReports
    private let names: SubjectIdentifiers
    private let sessions: PageSessions

    public init(clients: Clients, reports: SessionReports, names: SubjectIdentifiers, sessions: PageSessions) {
        self.clients = clients
        self.reports = reports
        self.names = names
        self.sessions = sessions
    }

    public func add(to router: inout Routes) {
        router.get("/session", .getSession) { request, context in
            try await answer(request, context) {
                ScriptCall.refusal(
                    401, "No session found!", response: reports.common(for: SessionReports.shortMemory))
            }
        }
        // Version 5 treats an error as a failure, and any answer with a `result`, even a false one, as signed in.
        router.get("/v2/session", .getSession) { request, context in
            try await answer(request, context) { .object(reports.common() + [.init("userStatus", "unknown")]) }
        }
    }

    private func answer(
        _ request: Request, _ context: SpindleContext, signedOut: () -> JSON
    ) async throws -> Response {
        try await PageFetch.answer(request, context, clients: clients) { client in
            try await told(request, client, signedOut: signedOut)
        }
    }

    /// The SDK keeps `sp_id` in a cookie for `expiresIn`, and would write `undefined` there. So without `sp_id` there
    /// is no `expiresIn`: then the SDK deletes the cookie, and keeps the answer for five minutes.
    private func told(_ request: Request, _ client: Client, signedOut: () -> JSON) async throws -> JSON {
        switch try await reports.report(request, client) {
        case .signedOut:
            // The one member that lets the SDK go there.
            if let address = try await sessions.renewal(for: request, client) {
                return .members(["redirectURL": .string(address)])
            }
            return signedOut()
        case .notConnected:
            return .object(
                [.init("result", false)] + reports.common() + [.init("userStatus", "notConnected")])
        case .user(let user):
            let lifetime = user["sp_id"] == nil ? nil : user.lifetime
            return try reports.signed(
                [.init("result", .bool(user.hasAgreed))] + reports.common(for: lifetime)
                    + [.init("userStatus", "connected")] + user.members
                    + (try await own(user, client)), for: client)
        }
    }

    /// Members that only this SDK reads. Spindle does not track users.
    private func own(_ user: SessionReports.User, _ client: Client) async throws -> [JSON.Member] {
        let number = user["userId"]?.integer
        let json: JSON = .members([
            "sdrn": number.map { .string("sdrn:spid.no:user:\($0)") },
            "pairId": .string(try await names.pair(user.id, with: client)), "tracking": false,
        ])
        return json.members ?? []
    }
}
