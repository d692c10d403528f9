public import Directory
package import HTTP

/// Refuses everything but the session service at hosts of clients' sites, which lead to this server too
/// (docs/decisions/session-hosts.md): users must sign in at one host only, whose name they know.
public struct SessionHosts: Sendable {
    private static let paths: Set<String> = [
        "/session", "/v2/session", "/session/renew", "/ajax/hasSession.js", "/rpc/hasSession.js", "/hasProduct/{id}",
        "/hasSubscription/{id}", "/hasAccess/{ids}",
    ]

    private let origin: String
    private let own: String
    private let hostWithoutSession: String
    private let known: KnownSessionHosts

    public init(site: Site, known: KnownSessionHosts) {
        origin = site.origin
        own = site.host
        hostWithoutSession = site.hostWithoutSession
        self.known = known
    }

    /// Whether `path` belongs to the session service.
    static func serve(_ path: String) -> Bool { paths.contains(path) }

    /// Whether a request names the host of the site exactly as we write it. `refusal` also decides this, but
    /// asynchronously.
    func isAtOwnHost(_ request: Request) -> Bool { request.headers[.host] == own }

    /// The response to a request for anything else; nil at a host that no client registered. SPiD's SDK for browsers
    /// logs out at the host of the site, and is redirected to ours.
    func refusal(of request: Request) async -> Response? {
        guard let host = request.host, host != own else { return nil }
        // To a browser a name with the root's dot is another site, but the same certificate is valid for it.
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).replacing(".:", with: ":")
        // Another port, or an explicit default port, is no other site.
        guard let isWritten = await known.contains(name), let isNamed = await known.contains(name.withoutPort) else {
            // A sign-in page is never served at a client's host. A health check need not know its host.
            guard !["/healthz", "/readyz"].contains(request.target.path) else { return nil }
            return Response(status: .serviceUnavailable, headers: [.retryAfter: "1", .cacheControl: "no-store"])
                .because("session_hosts_unknown")
        }
        guard isWritten || isNamed || name == hostWithoutSession else { return nil }
        if request.method == .get, request.target.path == "/logout" {
            return .sendBrowser(to: origin + request.target.text, status: .seeOther)
        }
        return Response(
            status: .notFound, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .text("This host offers the session service only.")
        ).because("session_host_only")
    }
}

extension String {
    fileprivate var withoutPort: String {
        lastIndex(of: ":").map { self[$0...].contains("]") ? self : String(self[..<$0]) } ?? self
    }
}

extension Request {
    /// The requested host, as browsers write it.
    package var host: String? { headers[.host]?.lowercased() }

    /// The requested host, if it belongs to the site of `client`. A session there is for one merchant.
    package func sessionHost(of client: Client) -> String? {
        guard client.merchant != nil, let host, client.spid.sessionHosts.contains(host) else { return nil }
        return host
    }
}
