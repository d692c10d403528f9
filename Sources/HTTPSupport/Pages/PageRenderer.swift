public import Directory
public import Federation
package import HTTP
public import OAuth
public import Pages

/// What every endpoint for users needs to make a page.
public struct PageRenderer: Sendable {
    package let templates: Templates
    package let site: Site
    package let forms: FormGuard
    package let clients: Clients
    package let merchants: Merchants
    package let issuers: TrustedIssuers
    package let interactions: Interactions
    package let address: ClientAddress

    public init(
        templates: Templates, site: Site, forms: FormGuard, clients: Clients, merchants: Merchants,
        issuers: TrustedIssuers, interactions: Interactions, address: ClientAddress
    ) {
        self.templates = templates
        self.site = site
        self.forms = forms
        self.clients = clients
        self.merchants = merchants
        self.issuers = issuers
        self.interactions = interactions
        self.address = address
    }

    /// A page for users, with the headers of `PageHeaders`.
    /// - Parameters: `formsLeaveSite`: a form's response may redirect to an app's redirect URI. `script`: the page runs
    ///   our script, and no other.
    package func page(
        _ html: String, _ visit: PageContext, status: Status = .ok, cookies: [String?] = [],
        formsLeaveSite: Bool = false, script: Bool = false
    ) -> Response {
        var headers = PageHeaders(visit: visit, formsLeaveSite: formsLeaveSite, script: script).fields
        for case let cookie? in cookies { headers.append(Field(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers, body: .text(html))
    }

    /// A page with a single message.
    ///
    /// - Parameter form: leads on to an app, in place of a link.
    package func message(
        _ topic: MessagePage.Topic, _ visit: PageContext, values: [String: String] = [:], form: FormPostPage? = nil,
        detail: String? = nil, status: Status = .badRequest, cookies: [String?] = []
    ) -> Response {
        let page = MessagePage(topic: topic, values: values, form: form, detail: detail)
        return self.page(
            templates.message(page, in: visit.frame), visit.framable, status: status, cookies: cookies,
            formsLeaveSite: form != nil)
    }

    /// The response to a form that did not come from our page in this browser.
    package func foreignForm(_ request: Request, _ visit: PageContext) -> Response {
        withoutCookie(request, visit, else: message(.foreignForm, visit, status: .forbidden))
    }
}

extension Response {
    /// The same, and says how long to wait before the next attempt.
    package func asking(toWait wait: Duration) -> Response {
        var response = self
        response.headers[.retryAfter] = String(wait.wholeSeconds)
        return response
    }

    /// Redirects the browser to `location`, which must be a registered redirect URI or a path of ours. Caches never
    /// keep it, because it can carry a code.
    package static func sendBrowser(
        to location: String, status: Status = .found, cookies: [String?] = []
    ) -> Response {
        var headers = Fields()
        headers[.location] = location
        headers[.cacheControl] = "no-store"
        headers[.referrerPolicy] = "no-referrer"
        for case let cookie? in cookies { headers.append(Field(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers)
    }
}
