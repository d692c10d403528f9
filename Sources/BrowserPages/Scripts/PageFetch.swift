import Directory
import HTTP
import HTTPSupport
import JSON
import Logging
import OAuth
import Values

/// A call of a SPiD-compatible client's page by `fetch` with the browser's cookies. Only a page of an origin that the
/// client registered may make one and read the answer (Fetch §3.2.3).
enum PageFetch {
    static func answer(
        _ request: Request, _ context: SpindleContext, clients: Clients, _ work: (Client) async throws -> JSON
    ) async throws -> Response {
        func refused(_ reason: String, _ text: String) -> Response {
            context.logger.info("refused", metadata: ["reason": "\(reason)"])
            var response = Response.plain(text, status: .forbidden)
            response.headers[.vary] = "Origin"
            return response
        }
        let named = try? request.query.parameters
        let id = named?[.clientSDRN].flatMap { Client.ID(sdrn: $0) } ?? named?[.clientID].map { Client.ID($0) }
        guard let id, let client = try await clients.findLive(id), client.spidCompatible else {
            return refused("unknown_client", "client_sdrn names no SPiD-compatible client.")
        }
        guard let origin = request.headers[.origin], client.webOrigins.contains(origin) else {
            return refused("origin_not_registered", "The web_origins of the client lack the origin of this page.")
        }
        var response = Response.json(try await work(client))
        response.headers[.vary] = "Origin"
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
