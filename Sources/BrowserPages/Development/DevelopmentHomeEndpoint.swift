import Authentication
import Directory
import HTTP
import HTTPSupport
import Pages
import Values

/// `/` of a server in development mode: its clients and users, and how to use them.
struct DevelopmentHomeEndpoint: Endpoint {
    let pages: PageRenderer
    let secrets: DevelopmentSecrets
    /// Where administration is.
    let administration: String

    func add(to router: inout Routes) {
        let gate = DevelopmentGate(site: pages.site)
        router.get("/", .showDevelopmentHome, by: gate, use: show)
        let templates = pages.templates
        for (name, script) in [("copy", templates.copyScript), ("fragment", templates.fragmentScript)] {
            router.get("/development/\(name).js", .getAsset, isSafe: true) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "text/javascript; charset=utf-8", .cacheControl: "no-store"],
                    body: .text(script))
            }
        }
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let site = pages.site
        let form = pages.forms.issue(request)
        var clients: [DevelopmentHomePage.Client] = []
        for kind in DevelopmentClient.allCases {
            if let client = try await pages.clients.find(kind.id) { clients.append(try await show(client, kind)) }
        }
        let page = DevelopmentHomePage(
            issuer: site.issuer, discovery: site.origin + site.issuerPath + "/.well-known/openid-configuration",
            keys: site.origin + "/oauth/jwks", tryIt: DevelopmentClient.app.request(at: site) ?? "",
            formToken: form.token, clients: clients,
            users: DevelopmentName.examples.map {
                .init(name: $0.text, email: $0.email, subject: $0.user.description)
            })
        let visit = PageContext.forDevelopers
        return pages.page(
            pages.templates.developmentHome(page, in: visit.frame), visit, cookies: [form.setCookie],
            formsLeaveSite: false, script: true)
    }

    private func show(_ client: Client, _ kind: DevelopmentClient) async throws -> DevelopmentHomePage.Client {
        let made = secrets.secret(of: client.id)
        // The developer may have replaced it.
        let secret: String? =
            if kind == .gateway { "any" } else { try await pages.clients.holds(client, made) ? made.value : nil }
        let getsOwnToken = secret != nil && (kind == .machine || kind == .administrator)
        return DevelopmentHomePage.Client(
            id: client.id.text, kind: kind.kind, use: kind.use, secret: secret, scope: client.scope.description,
            redirectURIs: client.redirectURIs.map(\.text),
            snippet: kind.snippet(secret, at: pages.site, administration: administration),
            request: kind == .app ? nil : kind.request(at: pages.site),
            action: getsOwnToken ? DevelopmentAnswerEndpoint.callPath : nil)
    }
}

extension PageContext {
    /// Pages for developers are in English, as the documents are.
    static let forDevelopers = PageContext(language: .english)
}
