import HTTP
import Pages

extension Request {
    /// Whether a user will read the response: the request is a browser's navigation, not a program's call.
    var isReadByUser: Bool {
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
    /// An error page in place of the JSON of an error, with its status and headers. It reads nothing from the database,
    /// which may be the cause of the error.
    func fault(_ answer: Response, of request: Request) -> Response {
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
        let visit = PageContext(language: language, reference: log.id(of: request))
        var page = message(topic, visit, status: answer.status)
        for name in [FieldName.retryAfter, .allow] where answer.headers[name] != nil {
            page.headers[name] = answer.headers[name]
        }
        return page
    }
}
