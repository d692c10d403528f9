/// How an answer travels through the browser to the client.
public enum ResponseMode: String, Sendable, CaseIterable {
    case query
    /// After the `#`: servers and their logs do not see it (OAuth 2.0 Multiple Response Type Encoding Practices §2.1).
    case fragment
    /// A form that the browser posts (OAuth 2.0 Form Post Response Mode).
    case formPost = "form_post"

    /// The mode of a request as far as it can be followed; whatever else it says is refused, by way of the query.
    static func followed(_ parameters: Parameters, to uri: RedirectURI) -> ResponseMode {
        guard let mode = parameters[.responseMode].flatMap(ResponseMode.init) else { return .query }
        return mode.reaches(uri) ? mode : .query
    }

    /// Refuses a mode that is not offered, and a form where nobody can receive one.
    static func check(_ parameters: Parameters, for uri: RedirectURI) throws(OAuthError) {
        guard let text = parameters[.responseMode] else { return }
        guard let mode = ResponseMode(rawValue: text) else {
            throw .malformed(.responseMode, "one of " + allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard mode.reaches(uri) else { throw .malformed(.responseMode, "form_post needs an https redirect_uri") }
    }

    private func reaches(_ uri: RedirectURI) -> Bool {
        self != .formPost || uri.text.hasPrefix("https://") || uri.text.hasPrefix("http://")
    }
}
