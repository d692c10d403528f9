public import Directory
public import Keys
public import Storage
import Values

/// Redeems a one-time code, from the authorization endpoint (RFC 6749 §4.1.3) or bought by a device for a backend.
public struct AuthorizationCodeGrant: Grant {
    public static let type = GrantType.authorizationCode

    private let database: any Database
    private let seal: Seal

    public init(database: any Database, seal: Seal) {
        self.database = database
        self.seal = seal
    }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let value = try request.parameters.require(.code)
        let redirectURI = request.parameters[.redirectURI]
        let verifier = try request.parameters[.codeVerifier].map { text throws(OAuthError) in try CodeVerifier(text) }

        if let code = ExchangeCode(opening: value, by: seal) {
            try OAuthError.about(code.subject.user) { () throws(OAuthError) in
                try code.check(client: client, redirectURI: redirectURI, hasVerifier: verifier != nil)
            }
            return authorization(
                client, code.subject, code.scope, .none, .new(.code(code)),
                CodeRedemption(code: .exchange(code, from: client.exchangeCodeSources)))
        }
        let authorizationCode = Secret<AuthorizationCode>(value).fingerprint
        if let code = try await AuthorizationCodes.find(authorizationCode, in: database) {
            try OAuthError.about(code.subject.user) { () throws(OAuthError) in
                try code.check(client: client, redirectURI: redirectURI, verifier: verifier)
            }
            return authorization(
                client, code.subject, code.scope, code.request, .new(.session(code.signIn, boughtBy: code.buyer)),
                CodeRedemption(
                    code: .authorization(authorizationCode),
                    mayRepeat: client.spid.codesRedeemedTwice && client.may(.redeemCodesTwice),
                    consent: client.may(.skipConsent)
                        ? nil : ConsentNeeded(user: code.subject.user, client: client.id, scope: code.scope)))
        }
        let isForSession = try await ExchangeCodes.isForSession(value, in: database)
        throw OAuthError.codeRefused(isForSession ? "session_code_at_token_endpoint" : "unknown_code")
    }

    private func authorization(
        _ client: Client, _ subject: Subject, _ scope: Scope, _ request: AuthenticationRequest,
        _ family: Authorization.Family, _ redemption: CodeRedemption
    ) -> Authorization {
        // The client may have lost a scope since the code was issued or sold.
        let scope = scope.intersection(client.scope)
        let refreshes = client.may(.refreshToken) && request.trial?.givesRefreshToken != false
        return Authorization(
            client: client, subject: subject, scope: scope, family: family,
            refresh: refreshes ? .issue : .none, request: request, redemption: redemption)
    }
}
