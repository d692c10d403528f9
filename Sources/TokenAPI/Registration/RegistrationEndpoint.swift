import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Outbound
import Values

/// `/oauth/register`: lets clients register themselves (RFC 7591) and manage the registration (RFC 7592).
public struct RegistrationEndpoint: Endpoint {
    private let registration: ClientRegistration
    private let site: Site

    public init(registration: ClientRegistration, site: Site) {
        self.registration = registration
        self.site = site
    }

    /// Open to every page: only the token counts, which no browser sends by itself.
    public func add(to router: inout Routes) {
        router.post("/oauth/register", .registerClient, readers: .everyPage, use: register)
        router.get("/oauth/register/{id}", .getRegistration, readers: .everyPage, use: show)
        router.put("/oauth/register/{id}", .replaceRegistration, readers: .everyPage, use: replace)
        router.delete("/oauth/register/{id}", .deleteRegistration, readers: .everyPage, use: delete)
    }

    @Sendable private func register(_ request: Request, context: SpindleContext) async throws -> Response {
        let presented: Secret<InitialAccessToken> = try Self.token(
            of: request,
            otherwise: "A new client needs an initial access token, which an administrator makes at "
                + "/admin/v1/initial-access-tokens: send it in the Authorization header, after 'Bearer '")
        let (made, token) = try await registration.register(try await Self.document(of: request), with: presented)
        return response(made.client, token, secret: made.secret, status: .created)
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let token: Secret<RegistrationToken> = try Self.token(of: request)
        return response(try await registration.client(try context.identifier(), with: token), token)
    }

    @Sendable private func replace(_ request: Request, context: SpindleContext) async throws -> Response {
        let token: Secret<RegistrationToken> = try Self.token(of: request)
        let id: Client.ID = try context.identifier()
        // A caller that may not change the client must not learn which changes are valid.
        _ = try await registration.client(id, with: token)
        let changed = try await registration.replace(id, by: try await Self.document(of: request), with: token)
        return response(changed, token)
    }

    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let token: Secret<RegistrationToken> = try Self.token(of: request)
        try await registration.delete(try context.identifier(), with: token)
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }

    /// RFC 7591 §3.2.1. Secrets are returned once, when they are made: only their fingerprints are stored.
    private func response(
        _ client: Client, _ token: Secret<RegistrationToken>, secret: Secret<Client>? = nil,
        status: Status = .ok
    ) -> Response {
        var members = client.registration
        if let secret {
            members.append(.init("client_secret", .string(secret.value)))
            // Required beside a secret; 0 means never.
            members.append(.init("client_secret_expires_at", .integer(0)))
        }
        members.append(.init("registration_access_token", .string(token.value)))
        members.append(.init("registration_client_uri", .string("\(site.origin)/oauth/register/\(client.id)")))
        return .json(.object(members), status: status)
    }

    /// The bearer token in the header. The other methods of RFC 6750 are not accepted here.
    private static func token<Kind>(
        of request: Request,
        otherwise hint: String = "Send the client's registration_access_token in the Authorization header, after "
            + "'Bearer '"
    ) throws(OAuthError) -> Secret<Kind> {
        guard let presented = try PresentedToken.read(request) else { throw .noToken(hint) }
        guard !presented.wasInQuery else {
            throw OAuthError(
                .invalidToken, "token_in_query", "Send the access token in the Authorization header, not in the URL.")
        }
        return Secret(presented.secret.value)
    }

    private static func document(of request: Request) async throws -> JSON {
        let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased()
        let bytes = try Form.bytes(of: request)
        guard type == "application/json" else { throw unreadable("its content type is another") }
        switch try JSON.body(bytes) {
        case .success(let json): return json
        case .failure(let fault): throw unreadable("it \(fault.text)")
        }
    }

    private static func unreadable(_ fault: String) -> OAuthError {
        OAuthError(
            .invalidClientMetadata, "registration_form",
            "The body must be a JSON object, sent as application/json: \(fault).")
    }
}

extension SectorDocument.Source {
    /// Fetches sector documents, which are small: a longer one is refused.
    init(askedBy outbound: Outbound) {
        self.init { address, requester in
            let answer = try await outbound.asking(for: .sector, by: requester.share, part: requester.part).get(
                address, limit: 65536)
            guard answer.status == 200 else { throw OutboundError.unreachable }
            return answer.body
        }
    }
}
