import HTTP
import HTTPSupport
import OAuth
import SPiD
import Text
import Values

extension SPiDInterface {
    /// The body as a form, if the route reads one, or what is wrong with it. The caller learns that only after its
    /// token was checked.
    static func form(of route: SPiDRoute, _ request: Request) -> Result<Form, any Error> {
        guard route.access.token != .unread, request.method == .post, request.hasForm else {
            return .success(Form(pairs: []))
        }
        do {
            return .success(Form.isMultipart(request) ? try Form.readMultipart(request) : try Form.read(request))
        } catch {
            return .failure(error)
        }
    }

    /// The token of the request, even if something else in it is wrong.
    static func token(_ request: Request, _ form: Result<Form, any Error>) throws(OAuthError) -> PresentedToken? {
        func tokens(_ form: Form?) throws(OAuthError) -> OAuth.Parameters {
            let names = [Parameter.accessToken, .oauthToken].map(\.rawValue)
            return try OAuth.Parameters((form?.pairs ?? []).filter { names.contains($0.name) })
        }
        return try PresentedToken.find(
            request.headers, form: try tokens(try? form.get()), query: try tokens(try? request.query),
            mayRepeatField: true)
    }

    /// The parameters of query and body that the route knows. Each may occur once, or once in both with the same value.
    static func parameters(of route: SPiDRoute, _ request: Request, _ form: Form) throws -> [String: String] {
        if route.isStrict, let unknown = form.pairs.first(where: { !$0.value.isEmpty && !route.knows($0.name) }) {
            throw SPiDRefusal(
                .badRequest, "Unknown parameter \(unknown.name.prefix(100))", reason: "unknown_parameter")
        }
        let query = try values(of: route, request.query)
        return try query.merging(try values(of: route, form)) { inQuery, inBody in
            guard inQuery == inBody else {
                throw SPiDRefusal(.badRequest, "A parameter has different values in the query and in the body")
            }
            return inQuery
        }
    }

    private static func values(of route: SPiDRoute, _ form: Form) throws -> [String: String] {
        let known = Set(route.required + route.optional + SPiDRoute.common).subtracting(SPiDRoute.repeatable)
        var values: [String: String] = [:]
        for (name, value) in form.pairs where known.contains(name) && !value.isEmpty {
            guard values.updateValue(value, forKey: name) == nil else {
                throw SPiDRefusal(.badRequest, "The parameter \(name) occurs more than once")
            }
        }
        return values
    }

    /// The variable parts of the path, without the `.json` that clients may append. A part that is not UTF-8, or
    /// contains a NUL, which cannot be stored, is 404.
    static func path(of route: SPiDRoute, _ context: SpindleContext) throws(SPiDRefusal) -> [String: String] {
        var path: [String: String] = [:]
        for (name, value) in context.parameters.all {
            var text = value
            if route.path.hasSuffix("{\(name)}"), text.hasSuffix(".json") { text.removeLast(5) }
            guard let bytes = PercentEncoding.decode(text.utf8), !bytes.contains(0),
                let text = String(validating: bytes, as: UTF8.self)
            else {
                throw SPiDRefusal(.notFound, "There is nothing of this name.", reason: "malformed_path")
            }
            guard text.isStreamSafe else {
                throw SPiDRefusal(.badRequest, OAuthError.tooManyMarks.hint, reason: OAuthError.tooManyMarks.reason)
            }
            path[name] = text
        }
        return path
    }
}

extension SPiDRoute {
    /// Whether a form of this route may have the parameter, or carries its token in it.
    fileprivate func knows(_ name: String) -> Bool {
        (required + optional + Self.common).contains(name) || name == Parameter.accessToken.rawValue
    }
}

extension Request {
    /// Whether it has a form, or a body without a content type, which is refused. SPiD's SDKs also post empty bodies.
    fileprivate var hasForm: Bool {
        if headers[.contentType] != nil { return true }
        if case .bytes(let bytes) = body { return !bytes.isEmpty }
        return true
    }
}
