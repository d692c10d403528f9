import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import Values

/// A call of a SPiD-compatible client's page by `fetch` with the browser's cookies: the one way for pages of other
/// origins to read an answer that depends on a cookie. Only a page of an origin that the client registered may make one
/// and read the answer (Fetch §3.2.5).
enum PageFetch {
    static func answer(
        _ request: Request, _ context: SpindleContext, clients: Clients, _ work: (Client) async throws -> JSON
    ) async throws -> Response {
        func refused(_ status: Status, _ reason: String, _ text: String) -> Response {
            var response = Response.plain(text, status: status)
            response.headers[.vary] = "Origin"
            return response.because(reason)
        }
        guard let parameters = try? request.query.parameters, let id = parameters.pageClient else {
            return refused(
                .badRequest, "client_missing", "client_sdrn must be sdrn:spid.no:client: and the client's id.")
        }
        guard let client = try await clients.findLive(ofScripts: id) else {
            return refused(.forbidden, "unknown_client", "The client is unknown, disabled, or not SPiD-compatible.")
        }
        // Browsers set it on every such call, and pages cannot.
        guard let origin = request.headers[.origin], client.webOrigins.contains(origin) else {
            return refused(
                .forbidden, "origin_not_registered", "The web_origins of the client lack the origin of this page.")
        }
        var response = Response.json(try await work(client))
        response.headers[.cacheControl] = "no-store"
        response.headers[.vary] = "Origin"
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        return response
    }
}

extension OAuth.Parameters {
    /// The client whose page makes the request.
    var pageClient: Client.ID? {
        guard let sdrn = self[.clientSDRN] else { return self[.clientID].map { Client.ID($0) } }
        return Client.ID(sdrn: sdrn)
    }
}
