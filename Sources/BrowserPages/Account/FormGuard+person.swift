import Directory
import HTTP
import HTTPSupport
import Values

/// Forms that belong to one user: if another user has signed in before the form is sent, it must change nothing.
extension FormGuard {
    enum Verdict { case accepted, foreign, anotherPersons }

    /// A token for the forms of `person` in this browser.
    func issue(_ request: Request, to person: UserID) -> Issued { issue(request).named(person) }

    /// Whether `form` was posted from a page of ours in this browser, made for `person`. The user's id needs no seal:
    /// only our page could put it there.
    func judge(_ form: Form, of request: Request, by person: UserID) -> Verdict {
        guard accepts(form, of: request) else { return .foreign }
        return form["form_token"]?.hasSuffix(".\(person)") == true ? .accepted : .anotherPersons
    }
}

extension FormGuard {
    /// Whether `form` was posted from a page for another user than `person`.
    func isOfAnother(_ form: Form, than person: UserID) -> Bool {
        form["form_token"].map { $0.contains(".") && !$0.hasSuffix(".\(person)") } ?? false
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

    /// The same token, for forms of `person`.
    func named(_ person: UserID) -> FormGuard.Issued {
        FormGuard.Issued(token: "\(token).\(person)", setCookie: setCookie, browser: browser)
    }
}
