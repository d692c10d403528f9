import Hummingbird
import OAuth

extension ReturnAddress.Refusal {
    var reason: String {
        switch self {
        case .noClient: "no_client"
        case .unknownClient: "unknown_client"
        case .noRedirectURI: "no_redirect_uri"
        case .unregisteredRedirectURI: "unregistered_redirect_uri"
        }
    }

    /// The page that a bad client or redirect URI gets: which of the two it was, and what to mend. Never a redirect.
    func page(_ pages: PageRenderer) -> Response {
        switch self {
        case .noClient:
            pages.message(
                "The app did not say who it is", "The link that brought you here has no client_id.",
                hint: "For developers: add client_id to the authorization request.")
        case .unknownClient(let id):
            pages.message(
                "This app is not known here", "There is no active client with the client_id of this link.",
                detail: "client_id: \(id.prefix(100))",
                hint:
                    "For developers: check client_id for typing errors and for the right server; a disabled client is "
                    + "not known either. The redirect URI was not looked at.")
        case .noRedirectURI(let client):
            pages.message(
                "The app did not say where to return",
                "The client is known, but it has more than one address to return "
                    + "to, or none, and the link does not say which.", detail: "client_id: \(client.id)",
                hint: "For developers: add redirect_uri, exactly as it is registered.")
        case .unregisteredRedirectURI(let client, let text):
            pages.message(
                "The address to return to is not registered",
                "The client is known, but it has not registered the redirect URI of this link.",
                detail: "client_id: \(client.id), redirect_uri: \(text.prefix(200))",
                hint: "For developers: it must be one of the client's redirect_uris, character for character.")
        }
    }
}

extension [Form.Pair] {
    /// The pairs as a query.
    var encoded: String {
        map { "\(Form.encode($0.name))=\(Form.encode($0.value))" }.joined(separator: "&")
    }
}
