import Foundation
import HTTPTypes
import Hummingbird
import OAuth

extension SPiDInterface {
    /// The body, where there is one.
    static func form(_ request: Request) async throws -> Form {
        guard request.method == .post, request.headers[.contentType] != nil else { return Form(pairs: []) }
        return try await Form.read(request)
    }

    /// What query and body say together. What the route knows may be said once.
    static func parameters(
        of route: SPiDRoute, _ request: Request, _ form: Form
    ) throws -> [String: String] {
        let known = Set(route.required + route.optional + SPiDRoute.common)
        var parameters: [String: String] = [:]
        for (name, value) in try request.query.pairs + form.pairs where known.contains(name) && !value.isEmpty {
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw SPiDRefusal(.badRequest, "The parameter \(name) occurs more than once")
            }
        }
        return parameters
    }

    /// The parts of the path that are not fixed, without the `.json` that clients may end it with.
    static func path(of route: SPiDRoute, _ context: SpindleContext) -> [String: String] {
        var path: [String: String] = [:]
        for (name, value) in context.parameters {
            var text = String(value)
            if route.path.hasSuffix("{\(name)}"), text.hasSuffix(".json") { text.removeLast(5) }
            path[String(name)] = text.removingPercentEncoding ?? text
        }
        return path
    }
}
