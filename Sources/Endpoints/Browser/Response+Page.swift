import HTTPTypes
public import Hummingbird
public import Pages

extension Response {
    /// A page for people: no script, no frame around it, nothing kept by caches.
    ///
    /// `form-action` is left out where a form's answer may lead to an app's redirect URI: browsers apply it to that
    /// redirect too.
    static func page(
        _ html: String, status: HTTPResponse.Status = .ok, cookies: [String?] = [], formsLeaveSite: Bool = false
    ) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
            + (formsLeaveSite ? "" : "; form-action 'self'")
        headers[.xFrameOptions] = "DENY"
        headers[.xContentTypeOptions] = "nosniff"
        // Not "no-referrer": with that a browser posts our own forms with `Origin: null`, as a foreign page's.
        headers[.referrerPolicy] = "same-origin"
        for case let cookie? in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// Sends the browser to `location`, which must be a registered redirect URI or a path of ours. Not named `redirect`:
    /// the framework's own of that name would be chosen, which lets caches keep a code.
    static func sendBrowser(
        to location: String, status: HTTPResponse.Status = .found, cookies: [String?] = []
    ) -> Response {
        var headers = HTTPFields()
        headers[.location] = location
        headers[.cacheControl] = "no-store"
        headers[.referrerPolicy] = "no-referrer"
        for case let cookie? in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers)
    }
}

/// What every endpoint for people needs to make a page.
public struct PageRenderer: Sendable {
    let templates: Templates
    let site: Site
    let forms: FormGuard

    public init(templates: Templates, site: Site, forms: FormGuard) {
        self.templates = templates
        self.site = site
        self.forms = forms
    }

    func message(
        _ title: String, _ text: String, detail: String? = nil, hint: String? = nil,
        status: HTTPResponse.Status = .badRequest, cookies: [String?] = []
    ) -> Response {
        .page(
            templates.message(MessagePage(title: title, text: text, detail: detail, hint: hint)), status: status,
            cookies: cookies)
    }

    /// The answer to a form that did not come from our page in this browser.
    var foreignForm: Response {
        message(
            "Please try again", "This form was not sent from the page it belongs to, or the page had grown old.",
            hint: "Go back, reload the page, and send the form again. Cookies must be allowed.", status: .forbidden)
    }
}

/// The style sheet of every page.
public struct AssetEndpoint: Endpoint {
    public init() {}

    public func add(to router: RouterGroup<SpindleContext>) {
        router.get("\(Stylesheet.path)") { _, _ in
            var headers = HTTPFields()
            headers[.contentType] = "text/css; charset=utf-8"
            headers[.cacheControl] = "public, max-age=3600"
            headers[.xContentTypeOptions] = "nosniff"
            return Response(
                status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: Stylesheet.css)))
        }
    }
}
