import Directory
import HTTP
import HTTPSupport
import OAuth
import Pages

extension ReturnAddress.Refusal {
    var reason: String {
        switch self {
        case .noClient: "no_client"
        case .unknownClient: "unknown_client"
        case .noRedirectURI: "no_redirect_uri"
        case .unregisteredRedirectURI: "unregistered_redirect_uri"
        case .unregisteredCancelURI: "unregistered_cancel_uri"
        }
    }

    /// The page for a bad client or redirect URI: it says which of the two, and what to fix. Never a redirect.
    func page(_ pages: PageRenderer, _ visit: PageContext) -> Response {
        pages.message(topic, visit, detail: detail)
    }

    /// Its texts are in each of the `Sources/Pages/Texts`: `message.unknownClient.title`, `.text` and `.hint`, and
    /// so on for `noClient`, `noRedirectURI`, `unregisteredRedirectURI` and `unregisteredCancelURI`.
    private var topic: MessagePage.Topic {
        switch self {
        case .noClient: .noClient
        case .unknownClient: .unknownClient
        case .noRedirectURI: .noRedirectURI
        case .unregisteredRedirectURI: .unregisteredRedirectURI
        case .unregisteredCancelURI: .unregisteredCancelURI
        }
    }

    /// For the app's developer: the values as they arrived, and the likeliest mistake.
    private var detail: String? {
        switch self {
        case .noClient: nil
        case .unknownClient(let id): "client_id: \(id.prefix(100))"
        case .noRedirectURI(let client): "client_id: \(client.id)"
        case .unregisteredRedirectURI(let client, let text): Self.detail(client, .redirectURI, text)
        case .unregisteredCancelURI(let client, let text): Self.detail(client, .cancelRedirectURI, text)
        }
    }

    private static func detail(_ client: Client, _ parameter: Parameter, _ text: String) -> String {
        let values = "client_id: \(client.id), \(parameter.rawValue): \(text.prefix(200))"
        guard let miss = RedirectURIMismatch(text, among: client.redirectURIs) else { return values }
        return values + ". It differs from a registered address only in: \(miss.rawValue)."
    }
}
