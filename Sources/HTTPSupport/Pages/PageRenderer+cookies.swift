package import HTTP
import Pages
import Values

/// Steps that need the cookie that the previous step has set.
extension PageRenderer {
    /// Marks a request that follows right after a cookie was set.
    private static let check: Form.Pair = (name: "cookie_check", value: "1")

    /// The response to a request that lacks its browser's cookie. If the browser keeps no cookies, the page that says
    /// they are needed; otherwise `refusal`, because the cookie belongs to another browser, or was lost when this one
    /// was closed.
    ///
    /// A form of ours is posted by a browser that has just been given a cookie: if it sends none, it keeps none. A URL
    /// may have come from another browser, so this one is given a cookie first, and asked to come back.
    package func withoutCookie(
        _ request: Request, _ visit: PageContext, else refusal: @autoclosure () -> Response
    ) -> Response {
        guard !request.hasCookie(of: site) else { return refusal() }
        if request.method == .post {
            return forms.isSameOrigin(request) ? cookiesNeeded(visit) : refusal()
        }
        let query = Form.query(of: request.target.text)
        guard query[Self.check.name] == nil else { return cookiesNeeded(visit) }
        // An address that begins with two slashes would name another host (RFC 3986 §4.2).
        let path = "/" + request.target.path.drop { $0 == "/" }
        let address = "\(path)?\((query.pairs + [Self.check]).encoded)"
        return .sendBrowser(to: address, status: .seeOther, cookies: [forms.issue(request).setCookie])
    }

    private func cookiesNeeded(_ visit: PageContext) -> Response {
        message(.cookiesNeeded, visit, status: .forbidden)
    }
}

extension Request {
    /// Whether any cookie of ours came with it.
    fileprivate func hasCookie(of site: Site) -> Bool {
        [site.formCookie, site.sessionCookie, site.othersCookie, site.deviceCookie, site.toldCookie].contains {
            cookie($0, atMost: 4096) != nil
        }
    }
}
