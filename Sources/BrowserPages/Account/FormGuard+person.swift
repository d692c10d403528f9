import HTTP
import HTTPSupport
import Values

/// Forms that are one person's: shown to somebody who then signed out, and sent by whoever signed in instead, they must
/// change nothing.
extension FormGuard {
    enum Verdict { case accepted, foreign, anotherPersons }

    /// A token for the forms of `person` in this browser.
    func issue(_ request: Request, to person: UserID) -> Issued { issue(request).named(person) }

    /// Whether `form` was posted from a page of ours in this browser, and from one that was `person`'s. The name of the
    /// person needs no seal of its own: it is our page that carries it.
    func judge(_ form: Form, of request: Request, by person: UserID) -> Verdict {
        guard accepts(form, of: request) else { return .foreign }
        return form["form_token"]?.hasSuffix(".\(person)") == true ? .accepted : .anotherPersons
    }
}

extension FormGuard.Issued {
    /// The same for forms that are `person`'s.
    func named(_ person: UserID) -> FormGuard.Issued {
        FormGuard.Issued(token: "\(token).\(person)", setCookie: setCookie, browser: browser)
    }
}
