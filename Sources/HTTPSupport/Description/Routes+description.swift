import HTTP
import JSON

extension Routes {
    /// Adds the description of all routes so far, and of itself, at `/openapi.json`. Any page may read it.
    public mutating func describe(at origin: String, version: String) {
        let own = Operation(
            "getDescription", "describe the API (OpenAPI 3.1)", by: .anyone,
            answers: [.init(.ok, .json(.document), "this document")])
        let template = PathTemplate("/openapi.json")
        let routes = all.filter { $0.operation !== Operation.undescribed }
            .map { (method: $0.method, template: $0.template, operation: $0.operation) }
        let description = APIDescription(
            routes: routes + [(.get, template, own)], origin: origin, version: version)
        let headers: Fields = [.contentType: "application/json", .cacheControl: "public, max-age=300"]
        let response = Response(status: .ok, headers: headers, body: .bytes(description.json.bytes))
        all.append(
            Route(.get, template, own, isSafe: true, readers: .everyPage, refusal: nil) { _, _ in response })
    }
}
