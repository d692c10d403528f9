import Directory

/// How a response travels through the browser to the client.
public enum ResponseMode: String, Sendable, CaseIterable {
    case query
    /// After the `#`: servers and their logs do not see it (OAuth 2.0 Multiple Response Type Encoding Practices §2.1).
    case fragment
    /// A form that the browser posts (OAuth 2.0 Form Post Response Mode).
    case formPost = "form_post"
    /// A message to the page that opened ours or has it in a frame.
    case webMessage = "web_message"

    /// The mode of a request if the client can receive it; otherwise the default mode, for the error.
    static func followed(_ parameters: Parameters, to uri: RedirectURI, of client: Client) -> ResponseMode {
        guard let mode = parameters[.responseMode].flatMap(ResponseMode.init) else { return usual(parameters) }
        return mode.fault(parameters, uri, client) == nil ? mode : usual(parameters)
    }

    /// Refuses a mode that is not offered, or in which the client could not receive the response.
    static func check(_ parameters: Parameters, for uri: RedirectURI, of client: Client) throws(OAuthError) {
        guard let text = parameters[.responseMode] else { return }
        guard let mode = ResponseMode(rawValue: text) else {
            throw .malformed(.responseMode, "one of " + allCases.map(\.rawValue).joined(separator: ", "))
        }
        if let fault = mode.fault(parameters, uri, client) { throw .malformed(.responseMode, fault) }
    }

    private static func bringsTokens(_ parameters: Parameters) -> Bool {
        parameters[.responseType].flatMap { ResponseType($0) }?.isDirect ?? false
    }

    private static func usual(_ parameters: Parameters) -> ResponseMode {
        bringsTokens(parameters) ? .fragment : .query
    }

    private func fault(_ parameters: Parameters, _ uri: RedirectURI, _ client: Client) -> String? {
        switch self {
        // Multiple Response Type Encoding Practices §3, §5: a query ends up in logs.
        case .query: Self.bringsTokens(parameters) ? "tokens are never sent in a query" : nil
        case .fragment: nil
        case .formPost: uri.isOfWeb ? nil : "form_post needs an https redirect_uri"
        case .webMessage:
            uri.origin.map(client.webOrigins.contains) ?? false
                ? nil : "web_message needs the origin of the redirect_uri among the client's web_origins"
        }
    }
}
