import Directory
import HTTP
import HTTPSupport
import Values

/// Forms that belong to one user: if another user has signed in before the form is sent, it must change nothing.
extension FormGuard {
    enum Verdict { case accepted, foreign, anotherPersons }

    /// A token for the forms of `user` in this browser.
    func issue(_ request: Request, to user: UserID) -> Issued { issue(request).named(user) }

    /// Whether `form` was posted from a page of ours in this browser, made for `user`. The user's id needs no seal:
    /// only our page could put it there.
    func judge(_ form: Form, of request: Request, by user: UserID) -> Verdict {
        guard accepts(form, of: request) else { return .foreign }
        return form["form_token"]?.hasSuffix(".\(user)") == true ? .accepted : .anotherPersons
    }
}

extension FormGuard {
    /// Whether `form` was posted from a page for another user than `user`.
    func isOfAnother(_ form: Form, than user: UserID) -> Bool {
        form["form_token"].map { $0.contains(".") && !$0.hasSuffix(".\(user)") } ?? false
    }

    /// Whether `form` was posted from a page about `client` as it is now.
    func hasShown(_ client: Client, on form: Form) -> Bool { form["form_token"]?.contains(".\(client.mark).") == true }
}

extension Client {
    fileprivate var mark: String { Fingerprint<Client>(of: look).text }
}

extension FormGuard.Issued {
    /// The same token, for forms of a page about `client` as it is now.
    func showing(_ client: Client) -> FormGuard.Issued {
        FormGuard.Issued(token: "\(token).\(client.mark)", setCookie: setCookie, browser: browser)
    }

    /// The same token, for forms of `user`.
    func named(_ user: UserID) -> FormGuard.Issued {
        FormGuard.Issued(token: "\(token).\(user)", setCookie: setCookie, browser: browser)
    }
}
