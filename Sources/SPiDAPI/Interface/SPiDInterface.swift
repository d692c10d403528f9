public import Directory
import HTTP
public import HTTPSupport
import JSON
import Logging
public import OAuth
public import SPiD
public import Values

/// `/api/2/…`: SPiD's API. Every call is checked in SPiD's order: the endpoint, the token, the allowance, for whom, and
/// whether this client may; what the data is to whom is then its resource's business.
public struct SPiDInterface: Endpoint {
    private let routes: [SPiDRoute]
    private let tokens: AccessTokens
    private let clients: Clients
    private let signSecrets: SignSecrets
    private let allowance: RequestAllowance
    private let clock: any WallClock

    public init(
        _ resources: [any SPiDResource], tokens: AccessTokens, clients: Clients, signSecrets: SignSecrets,
        allowance: RequestAllowance, clock: any WallClock
    ) {
        let routes = resources.flatMap(\.routes)
        self.routes = routes + [EndpointList.route(of: routes)]
        self.tokens = tokens
        self.clients = clients
        self.signSecrets = signSecrets
        self.allowance = allowance
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        for route in routes {
            let path = "/api/2/" + route.path
            // SPiD's clients may say what they want back; it is always JSON. A value at the end is cut by `call`.
            for path in path.hasSuffix("}") ? [path] : [path, path + ".json"] {
                router.on(path, method: route.method) { request, context in
                    try await answer(route, request, context)
                }
            }
        }
    }

    /// What is refused before an endpoint of it was reached is in its container too; but the token endpoint is OAuth's.
    public static let dialect = RefusalDialect(below: "/api/2", except: ["/api/2/oauth/token"]) {
        SPiDContainer().response(SPiDRefusal($0, $1))
    }

    private func answer(_ route: SPiDRoute, _ request: Request, _ context: SpindleContext) async throws -> Response {
        var container = SPiDContainer(route: route)
        do {
            container.path = try Self.path(of: route, context)
            let body = Self.form(of: route, request)
            let holder = try await holder(route, try Self.token(request, body), &container)
            let form = try body.get()
            let parameters = try Self.parameters(of: route, request, form)
            var asker: SPiDCall.RequestingClient?
            if let holder { asker = try await self.asker(holder, route, form, parameters) }
            let call = SPiDCall(
                request: request, context: context, asker: asker, path: container.path, parameters: parameters)
            for name in route.required { _ = try call.require(name) }
            return container.response(try await route.answer(call))
        } catch let refusal as SPiDRefusal {
            context.logger.info("refused", metadata: ["reason": "\(refusal.reason)"])
            return container.response(refusal)
        } catch let error as OAuthError {
            return error.spidResponse(in: container, logger: context.logger)
        }
    }

    /// Who shows a token, before it is looked at what they ask for.
    private struct Holder {
        let token: AccessToken
        let caller: Client
    }

    /// The token and the allowance.
    private func holder(
        _ route: SPiDRoute, _ presented: PresentedToken?, _ container: inout SPiDContainer
    ) async throws -> Holder? {
        switch route.caller {
        case .anybody: return nil
        case .visitor where presented == nil: return nil
        default: break
        }
        let token = try await tokens.require(presented, forAnybody: route.reach == .everyToken)
        switch route.caller {
        case .person where token.user == nil: throw OAuthError.userTokenNeeded
        case .client where token.user != nil: throw OAuthError.clientTokenNeeded
        default: break
        }
        guard let caller = try await clients.findLive(token.client) else {
            throw OAuthError.tokenRefused("client_disabled")
        }
        if caller.signsResponses { container.signSecret = try signSecrets.open(caller) }
        let state = allowance.take(caller.id, at: clock.now)
        container.allowance = state
        guard !state.isExceeded else {
            throw SPiDRefusal(
                .allowanceUsedUp, "Request limit exceeded: \(state.limit) an hour. See request.reset.",
                reason: "allowance_used_up")
        }
        return Holder(token: token, caller: caller)
    }

    /// For whom, and whether this client may.
    private func asker(
        _ holder: Holder, _ route: SPiDRoute, _ form: Form, _ parameters: [String: String]
    ) async throws -> SPiDCall.RequestingClient {
        let caller = holder.caller
        let client = try await contextClient(parameters, of: caller)
        // What is about anybody but the caller is for those who chose SPiD's ways. A stranger has what its people allowed
        // it, and SPiD's API, which knows no scopes, is more than that.
        guard route.caller != .client || caller.spidCompatible, !caller.isStranger || route.reach != .usual else {
            throw SPiDRefusal.notSPiDCompatible
        }
        // It knows people by their numbers, which a pairwise client must not learn (OpenID Connect Core §8).
        guard !caller.openID.isPairwise || route.reach == .everyToken else { throw SPiDRefusal.notSPiDCompatible }
        try SPiDHash.check(form.pairs, of: caller, with: signSecrets)
        return SPiDCall.RequestingClient(
            token: holder.token, client: client, caller: caller,
            confirm: { [tokens] db in _ = try tokens.again(holder.token, in: db) })
    }

    /// The client that another of its merchant acts for: of the merchant's own only, for to another people gave what is
    /// its alone.
    private func contextClient(_ parameters: [String: String], of caller: Client) async throws -> Client {
        guard let id = parameters["contextClientId"], id != caller.id.text else { return caller }
        guard caller.spidCompatible, caller.firstParty, let client = try await clients.findLive(Client.ID(id)),
            Merchant.same(client.merchant, caller.merchant)
        else {
            throw SPiDRefusal(
                .unauthorized, "contextClientId is not a client that this one may act for.",
                reason: "foreign_context_client")
        }
        return client
    }
}

extension SPiDRefusal {
    static let notSPiDCompatible = SPiDRefusal(
        .forbidden,
        "Client is not authorized to access this API endpoint. Contact the administrator of the merchant: the client is "
            + "not set to SPiD compatibility.", reason: "not_spid_compatible")
}
