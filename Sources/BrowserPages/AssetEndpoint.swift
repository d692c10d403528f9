public import Directory
import HTTP
public import HTTPSupport
import OAuth
public import Pages
import Values

/// Serves what pages need besides their HTML: the stylesheet, a merchant's colours, the scripts.
public struct AssetEndpoint: Endpoint {
    private let templates: Templates
    private let merchants: Merchants

    public init(templates: Templates, merchants: Merchants) {
        self.templates = templates
        self.merchants = merchants
    }

    public func add(to router: inout Routes) {
        router.get("/assets/spindle.css", .getAsset, isSafe: true) { _, _ in
            Response.asset(templates.stylesheet, "text/css; charset=utf-8")
        }
        router.get("/assets/submit.js", .getAsset, isSafe: true) { _, _ in
            Response.asset(templates.script, "text/javascript; charset=utf-8")
        }
        router.get("/assets/message.js", .getAsset, isSafe: true) { _, _ in
            Response.asset(templates.messageScript, "text/javascript; charset=utf-8")
        }
        router.get("/assets/brand/{merchant}", .getBrand, isSafe: true, use: brand)
    }

    @Sendable private func brand(_ request: Request, context: SpindleContext) async throws -> Response {
        let name = try context.parameters.require("merchant")
        guard name.hasSuffix(".css"), let merchant = try await merchants.find(Merchant.ID(String(name.dropLast(4)))),
            let accent = merchant.accentColor
        else { throw HTTPRefusal(.notFound) }
        return .asset(Stylesheet.brand(accent: accent), "text/css; charset=utf-8")
    }
}

extension Response {
    fileprivate static func asset(_ text: String, _ type: String) -> Response {
        var headers = Fields()
        headers[.contentType] = type
        headers[.cacheControl] = "public, max-age=3600"
        return Response(status: .ok, headers: headers, body: .text(text))
    }
}

extension Routes {
    /// Adds a form that is posted to `path`. A plain GET, as when a phone reloads a tab with the answer, is redirected
    /// to `start`, where the form is.
    mutating func form(
        _ path: String, _ operation: Operation, from start: String, use answer: @escaping Route.Answer
    ) {
        let way = Operation.way("\(operation.id)Start", "lead to the form")
        post(path, operation, use: answer)
        get(path, way, isSafe: true) { _, _ in Response.sendBrowser(to: start, status: .seeOther) }
    }
}
