import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import Values

/// A call of a client's web page by one of our scripts, as SPiD's JavaScript makes it.
///
/// Any page can embed a script, which sends the browser's cookies and lets the page read the result. Only pages with an
/// origin that the client registered get an answer; a page that hides its origin gets none.
struct ScriptCall {
    /// What the page's callback gets, and the browser's new cookies, if any.
    struct Answer {
        let json: JSON
        var cookies: [String] = []
    }

    static func answer(
        _ request: Request, _ context: SpindleContext, clients: Clients,
        _ work: (Client) async throws -> Answer
    ) async throws -> Response {
        guard let query = try? request.query, let callback = query["callback"], isCallback(callback) else {
            return .plain("callback must be 1 to 64 of the characters A-Z a-z 0-9 . _ $", status: .badRequest)
                .because("malformed_callback")
        }
        // Each text says what to fix. It reveals that the client exists, but client ids are public.
        func refused(_ reason: String, _ text: String) -> Response {
            .plain(text, status: .forbidden).because(reason)
        }
        guard let id = query["client_id"], !id.isEmpty else {
            return refused("client_missing", "The client_id is missing.")
        }
        guard let client = try await clients.findLive(Client.ID(id)) else {
            return refused("unknown_client", "The client_id \(id.prefix(200)) is unknown or disabled.")
        }
        guard let origin = request.webOrigin else {
            return refused("origin_missing", "The page hides its origin: neither Origin nor Referer contains it.")
        }
        guard client.webOrigins.contains(origin) else {
            return refused(
                "origin_not_registered",
                "The web_origins of the client \(client.id) lack \(origin.prefix(200)), the origin of this page.")
        }
        let answer = try await work(client)
        return .script("/**/SPiD.Talk.response('\(callback)', \(answer.json.text));", cookies: answer.cookies)
    }

    /// The callback is copied into a string of the script, so no character may end that string.
    private static func isCallback(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9_.$]{1,64}/) != nil }

    /// A refusal as SPiD's JavaScript understands it. `response` is what it hands to the page as well.
    static func refusal(
        _ code: Int64, _ description: String, type: String = "UserException", response: [JSON.Member]
    ) -> JSON {
        .members([
            "error": .members([
                "code": .integer(code), "type": .string(type), "description": .string(description),
            ]),
            "response": .object([JSON.Member("result", false)] + response),
        ])
    }
}

extension Clients {
    /// The live client `id`, if it may use SPiD's scripts in browsers.
    func findLive(ofScripts id: Client.ID) async throws -> Client? {
        try await findLive(id).flatMap { $0.may(.useSPiDScripts) ? $0 : nil }
    }
}

extension Request {
    /// The origin of the page that calls: `Origin`, or else the origin of `Referer`.
    var webOrigin: String? {
        if let origin = headers[.origin] { return origin }
        guard let referer = headers[.referer], let scheme = referer.firstRange(of: "://") else { return nil }
        return String(referer[..<scheme.upperBound] + referer[scheme.upperBound...].prefix { !"/?#".contains($0) })
    }
}

extension Response {
    /// A script for this page only. Other sites may embed it, which browsers would otherwise refuse. No cache keeps it,
    /// so it needs no `Vary`.
    fileprivate static func script(_ text: String, cookies: [String]) -> Response {
        var response = plain(text, status: .ok)
        response.headers[.contentType] = "application/javascript; charset=utf-8"
        response.headers[.crossOriginResourcePolicy] = "cross-origin"
        for cookie in cookies { response.headers.append(Field(name: .setCookie, value: cookie)) }
        return response
    }

    static func plain(_ text: String, status: Status) -> Response {
        let headers: Fields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        return Response(status: status, headers: headers, body: .text(text))
    }
}

extension ScriptCall {
    /// `visitor` of SPiD's answers about a session.
    ///
    /// SPiD recognized browsers by it, even without a session. Spindle does not track users: it names a user who is
    /// connected to the client, by the ids `id` and `userId` of `user`, and is empty otherwise.
    static func visitor(_ user: JSON = .object([])) -> JSON {
        .members([
            "uid": .string(user["id"]?.string ?? ""),
            "user_id": .string(user["userId"]?.integer.map { "\($0)" } ?? ""),
        ])
    }
}
