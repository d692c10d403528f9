import Authentication
public import Cryptography
public import Directory
public import OAuth
public import Values

/// The grant that takes an assertion of an issuer trusted by the client's merchant (RFC 7523 §2.1).
public struct JWTBearerGrant: Grant {
    public static let type = GrantType.jwtBearer

    private let signIn: AssertionSignIn
    private let subjects: IssuerSubjects
    private let providers: ProviderAssertions
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        signIn: AssertionSignIn, subjects: IssuerSubjects, providers: ProviderAssertions, clock: any WallClock,
        random: any RandomSource
    ) {
        self.signIn = signIn
        self.subjects = subjects
        self.providers = providers
        self.clock = clock
        self.random = random
    }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let token = try request.parameters.require(.assertion)
        let scope = try client.granted(request.parameters[.scope], within: client.scope.withoutAdministration)
        if client.may(.sendProviderTokens), ProviderAssertion.isMeant(by: token) {
            return try await authorize(byProvider: token, request, scope: scope, client: client)
        }
        return try await signIn.authorization(for: token, as: .assertion, request, scope: scope, client: client)
    }

    /// Accepts a provider's access token, as SPiD's SDKs send it. It creates no user: the app asks first, and
    /// registers.
    private func authorize(
        byProvider token: String, _ request: TokenRequest, scope: Scope, client: Client
    ) async throws -> Authorization {
        let holder = try await providers.holder(token, for: .authorization, from: client)
        guard let link = try await subjects.find(holder.subject, of: holder.issuer) else {
            throw OAuthError.unknownUser
        }
        guard !link.isDisabled else { throw OAuthError.providerUserDisabled }
        let signIn = SignIn(at: clock.now, by: .issuer, isDated: false, issuer: holder.issuer.text)
        return Authorization(
            client: client, subject: Subject(user: link.user, signIn), scope: scope, family: .new(.signIn(signIn)),
            refresh: client.may(.refreshToken) ? .issue : .none,
            redemption: RememberedRedemption(
                redemption: ProviderRedemption(holder: holder, user: link.user), user: link.user,
                login: .word(of: holder.provider.rawValue, request, client, random)))
    }
}
