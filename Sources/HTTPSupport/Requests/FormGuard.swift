package import Authentication
public import Cryptography
package import Directory
package import HTTP
package import Values

/// Checks that a form was sent from our own page (RFC 9700 §4.7, cross-site request forgery).
///
/// The page contains an HMAC of a random cookie: another site can neither read the cookie nor make the pair. A form is
/// also refused when the browser says that it comes from another site.
public struct FormGuard: Sendable {
    package let site: Site
    private let key: [UInt8]
    private let random: any RandomSource

    public init(site: Site, key: [UInt8], random: any RandomSource) {
        self.site = site
        self.key = key
        self.random = random
    }

    package struct Issued {
        package let token: String
        /// The `Set-Cookie` value, when the browser has no cookie yet.
        package let setCookie: String?
        /// The browser, identified by the cookie from now on.
        package let browser: Fingerprint<Browser>

        package init(token: String, setCookie: String?, browser: Fingerprint<Browser>) {
            self.token = token
            self.setCookie = setCookie
            self.browser = browser
        }
    }

    package func issue(_ request: Request) -> Issued {
        if let cookie = request.cookie(site.formCookie) { return issued(cookie, isNew: false) }
        let cookie = Base64URL.encode(random.bytes(24))
        return issued(cookie, isNew: true)
    }

    private func issued(_ cookie: String, isNew: Bool) -> Issued {
        Issued(
            token: token(for: cookie), setCookie: isNew ? site.cookie(site.formCookie, cookie) : nil,
            browser: Fingerprint(of: cookie))
    }

    /// Whether `form` was posted from a page of ours in this browser.
    package func accepts(_ form: Form, of request: Request) -> Bool {
        guard isSameOrigin(request), let cookie = request.cookie(site.formCookie), let token = form["form_token"] else {
            return false
        }
        // A form of a signed-in user names the user after a dot (`judge`).
        return constantTimeEqual(self.token(for: cookie).utf8, token.utf8.prefix { $0 != UInt8(ascii: ".") })
    }

    /// The browser that sent `request`, by the cookie of its forms.
    package func browser(_ request: Request) -> Fingerprint<Browser>? { cookie(of: request)?.fingerprint }

    /// The secret in the cookie of the browser's forms.
    package func cookie(of request: Request) -> Secret<Browser>? {
        request.cookie(site.formCookie).map { Secret($0) }
    }

    /// Whether the browser does not say that another site sent it.
    func isSameOrigin(_ request: Request) -> Bool {
        if let origin = request.headers[.origin], origin != site.origin { return false }
        if let fetchSite = request.headers[.secFetchSite], fetchSite != "same-origin" { return false }
        return true
    }

    /// Whether the form stands on a page of ours that the browser reached by http, though the issuer is https. The
    /// browser has then kept none of our cookies, which are for https.
    func isReachedByHTTP(_ request: Request) -> Bool {
        guard site.isSecure, let host = request.headers[.host] else { return false }
        return request.headers[.origin] == "http://\(host)"
    }

    /// The HMAC that only this server can make of `cookie`.
    private func token(for cookie: String) -> String {
        Base64URL.encode(Digest.hmacSHA256(Array(cookie.utf8), key: key))
    }
}

extension FieldName {
    package static let xMoz = FieldName("X-Moz") ?? .purpose
}

/// Forms that belong to one user: if another user has signed in before the form is sent, it must change nothing.
extension FormGuard {
    package enum Verdict { case accepted, foreign, anotherUsers }

    /// A token for the forms of `user` in this browser.
    package func issue(_ request: Request, to user: UserID) -> Issued { issue(request).named(user) }

    /// Whether `form` was posted from a page of ours in this browser, made for `user`. The user's id needs no seal:
    /// only our page could put it there.
    package func judge(_ form: Form, of request: Request, by user: UserID) -> Verdict {
        guard accepts(form, of: request) else { return .foreign }
        return form["form_token"]?.hasSuffix(".\(user)") == true ? .accepted : .anotherUsers
    }

    /// Whether `form` was posted from a page for another user than `user`.
    package func isOfAnother(_ form: Form, than user: UserID) -> Bool {
        form["form_token"].map { $0.contains(".") && !$0.hasSuffix(".\(user)") } ?? false
    }

    /// Whether `form` was posted from a page about `client` as it is now.
    package func hasShown(_ client: Client, on form: Form) -> Bool {
        form["form_token"]?.contains(".\(client.mark).") == true
    }
}

extension Client {
    fileprivate var mark: String { Fingerprint<Client>(of: look).text }
}

extension FormGuard.Issued {
    /// The same token, for forms of a page about `client` as it is now.
    package func showing(_ client: Client) -> FormGuard.Issued {
        FormGuard.Issued(token: "\(token).\(client.mark)", setCookie: setCookie, browser: browser)
    }

    /// The same token, for forms of `user`.
    package func named(_ user: UserID) -> FormGuard.Issued {
        FormGuard.Issued(token: "\(token).\(user)", setCookie: setCookie, browser: browser)
    }
}
