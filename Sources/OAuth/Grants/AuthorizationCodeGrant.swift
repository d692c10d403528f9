import Values

/// A one-time code, from the authorization endpoint (RFC 6749 §4.1.3) or bought by a device for a backend.
public struct AuthorizationCodeGrant: Grant {
    public static let type = GrantType.authorizationCode

    private let codes: AuthorizationCodes
    private let exchangeCodes: ExchangeCodes

    public init(codes: AuthorizationCodes, exchangeCodes: ExchangeCodes) {
        self.codes = codes
        self.exchangeCodes = exchangeCodes
    }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let value = try request.parameters.require(.code)
        let redirectURI = request.parameters[.redirectURI]
        let verifier = try request.parameters[.codeVerifier].map { text throws(OAuthError) in try CodeVerifier(text) }

        let authorizationCode = Secret<AuthorizationCode>(value).fingerprint
        if let code = try await codes.find(authorizationCode) {
            try code.check(client: client, redirectURI: redirectURI, verifier: verifier)
            return authorization(
                client, code.subject, code.scope, parent: nil, CodeClaim(code: .authorization(authorizationCode)))
        }
        let exchangeCode = Secret<ExchangeCode>(value).fingerprint
        if let code = try await exchangeCodes.find(exchangeCode) {
            try code.check(client: client, redirectURI: redirectURI, hasVerifier: verifier != nil)
            // The receiver may have lost a scope since the code was sold.
            let scope = code.scope.intersection(client.scope)
            return authorization(
                client, code.subject, scope, parent: code.source, CodeClaim(code: .exchange(exchangeCode)))
        }
        throw OAuthError.codeRefused("unknown_code")
    }

    private func authorization(
        _ client: Client, _ subject: Subject, _ scope: Scope, parent: Permission.ID?, _ claim: CodeClaim
    ) -> Authorization {
        Authorization(
            client: client, subject: subject, scope: scope, family: .new(parent: parent),
            refresh: client.may(.refreshToken) ? .issue : .none, claim: claim)
    }
}
