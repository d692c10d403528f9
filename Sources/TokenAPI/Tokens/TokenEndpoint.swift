import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Values

/// `POST /oauth/token` (RFC 6749 §3.2).
public struct TokenEndpoint: Endpoint {
    private let issuance: TokenIssuance
    private let address: ClientAddress

    public init(issuance: TokenIssuance, address: ClientAddress) {
        self.issuance = issuance
        self.address = address
    }

    public func add(to router: inout Routes) {
        for path in Site.tokenPaths { router.post(path, .requestToken, readers: .pagesOfClient, use: respond) }
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        var form = Form(pairs: [])
        do {
            form = try await read(request)
            context.presumedClient?.note(ClientCredentials.named(request, form))
            let parameters = try form.parameters
            let credentials = try ClientCredentials.read(request, parameters)
            let tokens = try await issuance.tokens(
                for: TokenRequest(
                    parameters: parameters, address: address.of(request),
                    userAgent: request.headers[.userAgent] ?? ""), from: credentials)
            return .json(tokens.json)
        } catch let refusal as OAuthError {
            if await speaksSPiD(ClientCredentials.named(request, form)) {
                return SPiDDialect.response(to: refusal)
            }
            guard refusal.code == .invalidClient else { throw refusal }
            return SPiDDialect.response(
                toUnprovenClient: refusal, triedHeader: request.headers[.authorization] != nil)
        }
    }

    /// The form, also as multipart if it names a SPiD-compatible client: SPiD's PHP SDK sends it so if uploads are
    /// enabled.
    private func read(_ request: Request) async throws -> Form {
        guard Form.isMultipart(request) else { return try Form.read(request, orJSON: true) }
        let form = try Form.readMultipart(request)
        guard let id = ClientCredentials.named(request, form), let client = try await issuance.client(named: id),
            client.may(.sendFormsInParts)
        else { throw Form.unreadable(orJSON: true) }
        return form
    }

    /// Whether the client that a refused request names gets SPiD's errors. If that cannot be found out, the original
    /// error is still sent.
    private func speaksSPiD(_ id: Client.ID?) async -> Bool {
        guard let id else { return false }
        return (try? await issuance.client(named: id))?.may(.getSPiDAnswers) ?? false
    }
}

extension TokenResponse {
    /// Members without a value are absent, never null. A user's id is a string: JavaScript's numbers end at 2^53.
    var json: JSON {
        let spid = client.may(.getSPiDAnswers)
        return .members([
            "access_token": .string(accessToken.value),
            "issued_token_type": issuedTokenType.map { .string($0) },
            "token_type": "Bearer",
            "expires_in": .integer(lifetime.seconds),
            // SPiD's clients may expect it even if it is empty.
            "scope": scope.isEmpty && !spid ? nil : .string(scope.description),
            "refresh_token": refreshToken.map { .string($0.value) },
            "id_token": idToken.map { .string($0) },
            "user_id": subject.map { .string($0) } ?? (spid ? false : nil),
            "is_admin": spid ? false : nil,
            "server_time": spid ? .integer(issuedAt.seconds) : nil,
        ])
    }
}

/// Error responses for SPiD-compatible clients: the error names that SPiD's SDKs look for.
enum SPiDDialect {
    static func response(to refusal: OAuthError) -> Response {
        var response = response(name(of: refusal), status(of: refusal), refusal.hint)
        refusal.decorate(&response.headers)
        // A challenge goes with 401 only (RFC 9110 §11.6.1).
        response.headers[.wwwAuthenticate] = nil
        return response.because(of: refusal)
    }

    /// The refusal of a client that did not authenticate, or does not exist. It has the status, name and challenge of
    /// RFC 6749 §5.2, and also SPiD's members, because an SDK of SPiD may have a wrong id. Every refused client gets
    /// them, so that the answer does not reveal whether it exists.
    static func response(toUnprovenClient refusal: OAuthError, triedHeader: Bool) -> Response {
        var response = response(refusal.code.rawValue, refusal.status, refusal.hint)
        refusal.decorate(&response.headers, triedHeader: triedHeader)
        return response.because(of: refusal)
    }

    private static func response(_ name: String, _ status: Status, _ hint: String) -> Response {
        .json(
            .members([
                "error": .string(name), "error_code": .string("\(status.code) \(status.reasonPhrase)"),
                "type": "OAuthException", "error_description": .string(hint),
            ]), status: status)
    }

    /// The SDKs expect errors with status 400. `Retry-After` is the same as everywhere.
    private static func status(of refusal: OAuthError) -> Status {
        let status = refusal.status
        return status == .unauthorized || status == .forbidden ? .badRequest : status
    }

    private static func name(of refusal: OAuthError) -> String {
        switch refusal.userFault {
        case .wrongCredentials: return "invalid_user_credentials"
        case .unverified: return "unverified_user"
        case .unknown: return "unknown_user"
        case nil: return refusal.code == .invalidClient ? "invalid_client_credentials" : refusal.code.rawValue
        }
    }
}
