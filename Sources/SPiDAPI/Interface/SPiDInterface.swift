public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import SPiD
import Text
public import Values

/// `/api/2/…`, also `/api/…`: SPiD's API over HTTP. Every call is checked in SPiD's order: the endpoint, the token, the
/// allowance, the context client, and whether the caller may (`CallAuthorization`). Its resource decides what the
/// answer shows.
public struct SPiDInterface: Endpoint {
    private let routes: [SPiDRoute]
    private let tokens: AccessTokens
    private let families: TokenFamilies
    private let address: ClientAddress
    private let clock: any WallClock
    private let authorization: CallAuthorization

    public init(
        _ resources: [any SPiDResource], tokens: AccessTokens, families: TokenFamilies, clients: Clients,
        authenticator: ClientAuthenticator, signSecrets: SignSecrets, allowance: RequestAllowance,
        address: ClientAddress, clock: any WallClock
    ) {
        let routes = resources.flatMap(\.routes)
        self.routes = routes + [EndpointList.route(of: routes)]
        self.tokens = tokens
        self.families = families
        self.address = address
        self.clock = clock
        authorization = CallAuthorization(
            tokens: tokens, clients: clients, authenticator: authenticator, signSecrets: signSecrets,
            allowance: allowance, clock: clock)
    }

    public func add(to router: inout Routes) {
        for route in routes {
            // A path without a version means version 2.
            for path in ["/api/2/", "/api/"].map({ $0 + route.path }) {
                // SPiD's clients may name a format in the path; the answer is always JSON. `path(of:_:)` removes it
                // from a value at the end.
                for path in path.hasSuffix("}") ? [path] : [path, path + ".json"] {
                    let isOther = path != "/api/2/" + route.path
                    router.on(path, method: route.method, isOther ? .undescribed : route.operation) {
                        request, context in
                        try await answer(route, request, context)
                    }
                }
            }
        }
    }

    /// Refusals before an endpoint was reached are in SPiD's container too, except for the token endpoint, which is
    /// OAuth's.
    public static let dialect = RefusalDialect(below: "/api", except: ["/api/2/oauth/token"]) {
        SPiDContainer().response(SPiDRefusal($0, $1))
    }

    private func answer(_ route: SPiDRoute, _ request: Request, _ context: SpindleContext) async throws -> Response {
        var container = SPiDContainer(route: route)
        do {
            container.path = try Self.path(of: route, context)
            let body = Self.form(of: route, request)
            let caller = try await caller(route.access, request, try Self.token(request, body), &container)
            // Only now is it known whether the caller may send a multipart form.
            if request.method == .post, Form.isMultipart(request), let caller, !caller.client.may(.sendFormsInParts) {
                throw Form.unreadable()
            }
            let form = try body.get()
            let parameters = try Self.parameters(of: route, request, form)
            var requestingClient: RequestingClient?
            if let caller {
                requestingClient = try await authorization.requestingClient(
                    caller, for: route.access, contextClientID: parameters["contextClientId"], form: form.pairs)
            }
            let call = SPiDCall(
                request: request, context: context, now: clock.now, requestingClient: requestingClient,
                path: container.path,
                parameters: parameters)
            for name in route.required { _ = try call.require(name) }
            return container.response(try await route.answer(call))
        } catch let refusal as SPiDRefusal {
            return container.response(refusal).because(of: refusal)
        } catch let error as OAuthError {
            return error.spidResponse(in: container)
        }
    }

    /// The caller, checked before the rest of the request is read; nil if none is needed. Sets what every later answer
    /// shows: the allowance, and the secret that signs it.
    private func caller(
        _ access: CallAccess, _ request: Request, _ presented: PresentedToken?, _ container: inout SPiDContainer
    ) async throws -> CallAuthorization.Caller? {
        switch access.token {
        case .unread: return nil
        case .optional where presented == nil: return nil
        default: break
        }
        let caller: CallAuthorization.Caller
        if presented == nil, let credentials = ClientCredentials.ofHeader(request) {
            caller = try await authorization.caller(with: credentials, for: access)
        } else {
            caller = try await authorization.caller(
                with: try await token(presented, of: request, for: access), for: access)
        }
        request.note(caller.client.id)
        // Anyone can extract an app's secret, and so get its token. A page could then have its visitors call, each from
        // another address.
        guard caller.token.user != nil || caller.client.may(.answerForItself) || !request.isByWebPage else {
            throw SPiDRefusal.appsTokenInPage
        }
        container.signSecret = try authorization.signSecret(of: caller.client)
        let allowance = authorization.count(caller, from: address.of(request), for: access)
        container.allowance = allowance
        try allowance.requireRemaining()
        return caller
    }

    private func token(
        _ presented: PresentedToken?, of request: Request, for access: CallAccess
    ) async throws -> AccessToken {
        do {
            return try await tokens.require(presented, of: request)
        } catch {
            if access.reach == .everyToken, let presented {
                try await families.logOut(resting: presented.secret, among: tokens, at: clock.now)
            }
            throw error
        }
    }
}

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
