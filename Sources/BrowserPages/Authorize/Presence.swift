import Cryptography
import Directory
import HTTP
import HTTPSupport
import OAuth
import Values

/// The mark of an authorization request whose person has just answered a page of ours about it.
///
/// It goes on as one more parameter, which no client can make: it is for this request, in this browser session, for a
/// short while. Without it an app could start a request and be answered from an open session, with nobody there.
extension FormGuard {
    /// No parameter of OAuth's.
    private static let presence = "spindle_presence"
    private static let longestPresence: Duration = .minutes(5)

    /// `request` with the mark, for the session of the cookie `session`.
    func marked(_ request: Form, session: String) -> Form {
        let plain = request.without(Self.presence)
        let until = String((clock.now + Self.longestPresence).seconds)
        return Form(pairs: plain.pairs + [(Self.presence, "\(until).\(mark(until, session, plain))")])
    }

    /// `form` without a mark, and whether it bore a good one.
    func unmarked(_ form: Form, of http: Request) -> (form: Form, isPresent: Bool) {
        let plain = form.without(Self.presence)
        guard let mark = form[Self.presence], let session = http.cookie(site.sessionCookie),
            let dot = mark.firstIndex(of: "."), let until = Int64(mark[..<dot]),
            let moment = Timestamp(seconds: until), clock.now < moment
        else { return (plain, false) }
        let expected = self.mark(String(until), session, plain)
        return (plain, constantTimeEqual(expected.utf8, mark[mark.index(after: dot)...].utf8))
    }

    /// Begins as no form token's text does: no cookie holds a semicolon.
    private func mark(_ until: String, _ session: String, _ request: Form) -> String {
        code("presence;\(until);\(session);\(request.pairs.encoded)")
    }
}

extension Form {
    fileprivate func without(_ name: String) -> Form { Form(pairs: pairs.filter { $0.name != name }) }
}

extension PageRenderer {
    /// `path`, where `arrival` goes on to, with the mark if it is a request that needs one.
    func way(_ path: String?, of arrival: NewSession) -> String? {
        path.map { path in
            arrival.isOfDoubtfulClient ? marked(path, session: arrival.secret.value) : path
        }
    }

    /// `path`, where the browser of `http` goes on to from a page about `client`, likewise.
    func way(_ path: String?, for client: Client?, of http: Request) -> String? {
        path.map { path in
            guard client?.isDoubtful == true, let session = http.cookie(site.sessionCookie) else { return path }
            return marked(path, session: session)
        }
    }

    private func marked(_ path: String, session: String) -> String {
        let beginning = AuthorizeEndpoint.path + "?"
        guard path.hasPrefix(beginning), let request = try? Form.parse(String(path.dropFirst(beginning.count))) else {
            return path
        }
        return forms.marked(request, session: session).onward
    }
}

extension Client {
    /// Whether it makes a difference that its person is there: anybody could pass for it, or it came by itself.
    var isDoubtful: Bool { isPublic || registeredItself }
}
