import HTTP
import Pages

extension Request {
    /// Whether a person is to read the answer: a browser that goes somewhere, not a program that calls an endpoint.
    var isOfAPerson: Bool {
        let path = target.path
        return headers[.accept]?.contains("text/html") == true && !Self.calls.contains { path.hasPrefix($0) }
    }

    private static let calls = [
        "/oauth/token", "/oauth/exchange", "/oauth/introspect", "/oauth/revoke", "/oauth/register", "/oauth/userinfo",
        "/userinfo", "/me", "/user/", "/api/", "/admin/", "/webhooks/",
        "/ajax/", "/rpc/",
    ]
}

extension PageRenderer {
    /// A page in the place of a fault's JSON, with its status and headers. Nothing is looked up for it: the fault may be
    /// the database's.
    func fault(_ answer: Response, of request: Request, id: String) -> Response {
        let topic: MessagePage.Topic
        switch answer.status {
        case .badRequest, .unsupportedMediaType: topic = .foreignForm
        case .notFound, .methodNotAllowed: topic = .notFound
        case .contentTooLarge: topic = .tooLarge
        case .serviceUnavailable: topic = .tryLater
        case .internalServerError: topic = .somethingWrong
        default: return answer
        }
        let language = Language.preferred(uiLocales: nil, acceptLanguage: request.headers[.acceptLanguage])
        var page = message(
            topic, PageContext(language: language), detail: topic == .somethingWrong ? id : nil, status: answer.status)
        for name in [FieldName.retryAfter, .allow] where answer.headers[name] != nil {
            page.headers[name] = answer.headers[name]
        }
        return page
    }
}
