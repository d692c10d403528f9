import Directory
import HTTP
import HTTPSupport
import OAuth
import Values

/// A step of a browser's way to a session at the host of a client's site: for a live SPiD-compatible client, and to one
/// of its pages.
struct SessionHop {
    let query: Form
    let client: Client
    let page: RedirectURI

    enum Refused: String, Error {
        case embedded = "session_hop_embedded"
        case client = "unknown_client"
        case page = "unregistered_redirect_uri"
        case host = "session_host_not_registered"
        case browser = "another_browser"

        var status: Status {
            switch self {
            case .embedded: .forbidden
            case .host: .notFound
            case .client, .page, .browser: .badRequest
            }
        }

        var text: String {
            switch self {
            case .embedded: "Only a top-level navigation gets an answer, not a frame or an image."
            case .client: "client_sdrn names no SPiD-compatible client."
            case .page: "redirect_uri must be a page of the client's web_origins, or one of its redirect_uris."
            case .host: "The session_hosts of the client lack this host."
            case .browser: "This URL belongs to another browser, or this browser keeps no cookies."
            }
        }
    }

    static func answer(
        _ request: Request, _ context: SpindleContext, clients: Clients,
        _ work: (SessionHop) async throws -> Response
    ) async throws -> Response {
        guard !request.isPrefetch else { return Response(status: .noContent) }
        do {
            guard request.headers[.secFetchDest].map({ $0 == "document" }) ?? true else { throw Refused.embedded }
            return try await work(try await SessionHop(request, clients))
        } catch let refused as Refused {
            return .plain(refused.text, status: refused.status).because(refused.rawValue)
        }
    }

    private init(_ request: Request, _ clients: Clients) async throws {
        guard let query = try? request.query, let id = (try? query.parameters)?.pageClient,
            let client = try await clients.findLive(ofScripts: id)
        else { throw Refused.client }
        guard let text = query["redirect_uri"], text.hasPrefix("https://") || text.hasPrefix("http://"),
            let page = client.page(text) ?? client.redirectURI(text)
        else { throw Refused.page }
        self.query = query
        self.client = client
        self.page = page
    }
}
