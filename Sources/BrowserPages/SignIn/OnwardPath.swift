import Authentication
import HTTP
import HTTPSupport

/// Where a sign-in goes on to: a path of ours at which sign-ins begin. Nothing else is ever redirected to.
struct OnwardPath: Sendable {
    let text: String

    private static let beginnings = [AuthorizeEndpoint.path + "?", "/account", "/verify", PagePath.appReturn + "?"]

    /// Nil for anything else: another site, another page, a character that a browser might read otherwise.
    init?(_ text: String?) {
        guard let text, text.utf8.count <= 8192,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            Self.beginnings.contains(where: { text.hasPrefix($0) && Self.ends(text.dropFirst($0.count), after: $0) }),
            // An escape in the path could be read as dots or a slash by whoever routes it.
            case let path = text.prefix(while: { $0 != "?" }), !path.contains(".."), !path.contains("%")
        else { return nil }
        self.text = text
    }

    /// `/account` begins `/account/data`, and not `/accounting`.
    private static func ends(_ rest: Substring, after beginning: String) -> Bool {
        beginning.hasSuffix("?") || rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?")
    }

    /// The query of the authorization request that it goes back to.
    var authorizationRequest: String? {
        let beginning = AuthorizeEndpoint.path + "?"
        return text.hasPrefix(beginning) ? String(text.dropFirst(beginning.count)) : nil
    }
}

extension PageRenderer {
    /// The visit of who opens a mailed link: it goes on to what its mail was asked for at, in whatever browser.
    func visit(_ request: Request, of verification: Verification) async throws -> PageContext {
        try await visit(request, continueTo: OnwardPath(verification.continueTo)?.text)
    }
}
