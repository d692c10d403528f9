import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import Pages
import Values

/// `/development/redirect-uri`: registers the redirect URI that an authorization request named in vain. In development
/// mode only.
struct RedirectURIEndpoint: Endpoint {
    static let path = "/development/redirect-uri"

    let pages: PageRenderer
    let register: DevelopmentFeature.Registration

    func add(to router: inout Routes) {
        router.form(
            Self.path, .registerRedirectURI, from: "/", use: DevelopmentGate(site: pages.site).guarding(submit))
    }

    @Sendable private func submit(_ request: Request, context: SpindleContext) async throws -> Response {
        let form = try Form.read(request)
        guard pages.forms.accepts(form, of: request) else { return pages.foreignForm(request, .forDevelopers) }
        guard let client = form["client_id"], let address = form["redirect_uri"] else {
            throw HTTPRefusal(.badRequest)
        }
        do {
            try await register(Client.ID(client), address)
        } catch let fault as JSONFault {
            return pages.brokenRequest(.forDevelopers, detail: "\(fault.member) must be \(fault.expected).")
        }
        return .sendBrowser(to: Self.path(form["continue"] ?? ""), status: .seeOther)
    }

    /// A path of this server. One that begins with two slashes, or with what browsers take for them, would name another
    /// host (RFC 3986 §4.2).
    private static func path(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        return "/" + (isPlain ? text.drop { $0 == "/" } : "")
    }
}

extension PageRenderer {
    /// The form that registers `address` at `client` and repeats `request`. Nil except in development mode, and for an
    /// address that no client can have.
    func registration(
        of address: String, at client: Client, for request: Request, _ form: FormGuard.Issued
    ) -> FormPostPage? {
        guard development != nil, RedirectURI(registering: address) != nil else { return nil }
        return FormPostPage(
            action: RedirectURIEndpoint.path,
            fields: [
                HiddenField(name: "form_token", value: form.token),
                HiddenField(name: "client_id", value: client.id.text),
                HiddenField(name: "redirect_uri", value: address),
                HiddenField(name: "continue", value: request.target.text),
            ])
    }
}
