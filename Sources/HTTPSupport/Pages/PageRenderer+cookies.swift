package import HTTP
import Pages
import Values

/// Steps that need the cookie that the step before has set.
extension PageRenderer {
    /// Says in a request that a cookie was set just before it.
    private static let check: Form.Pair = (name: "cookie_check", value: "1")

    /// The response to a request that is refused for want of its browser's cookie: the page that says that cookies are
    /// needed, where the browser keeps none; else `refusal`, because the cookie is another browser's, or was lost when
    /// this one was closed.
    ///
    /// A form of ours is posted by a browser that has just been given a cookie: without any it keeps none. An address
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
