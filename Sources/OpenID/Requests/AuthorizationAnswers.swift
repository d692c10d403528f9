public import Directory
public import OAuth
public import Values

/// Responds to authorization requests that are ready: with a code, with tokens, or with both.
public struct AuthorizationAnswers: Sendable {
    private let codes: AuthorizationCodes
    private let direct: FrontChannelTokens
    private let ids: IDTokens
    private let issuer: String
    private let clock: any WallClock

    public init(
        codes: AuthorizationCodes, direct: FrontChannelTokens, ids: IDTokens, issuer: String, clock: any WallClock
    ) {
        self.codes = codes
        self.direct = direct
        self.ids = ids
        self.issuer = issuer
        self.clock = clock
    }

    /// The response to `request`, allowed by the user of `session`. Nil when the user revoked that since the request
    /// was decided: decide again.
    public func answer(
        to request: AuthorizationRequest, in session: Session
    ) async throws -> AuthorizationAnswer? {
        let (address, type) = (request.returnAddress, request.responseType)
        guard !type.isEmpty else { return address.emptyAnswer(issuer: issuer) }
        guard type.isDirect else {
            let code = try await codes.issue(request, in: session, at: clock.now)
            return code.map { address.answer(code: $0, issuer: issuer) }
        }
        let draft = try await draft(for: request, of: Subject(session))
        guard
            var response = try await direct.response(for: request, in: session)
        else { return nil }
        response.idToken = draft?.signed(
            at: clock.now, accessToken: response.tokens?.accessToken.value, code: response.code?.value)
        return address.answer(response, issuer: issuer)
    }

    /// Core §5.4: without an access token, the client cannot get the claims of the scope from userinfo. Otherwise they
    /// stay out of what goes through the browser.
    private func draft(for request: AuthorizationRequest, of subject: Subject) async throws -> IDTokens.Draft? {
        guard request.responseType.contains(.idToken) else { return nil }
        return try await ids.draft(
            of: subject, for: request.returnAddress.client, scope: request.scope, asked: request.authentication,
            carriesScope: request.responseType == .idToken)
    }
}
