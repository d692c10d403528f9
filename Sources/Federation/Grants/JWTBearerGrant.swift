public import Cryptography
import Identity
import Identity
import JOSE
public import OAuth
public import Values

/// The word of an issuer that the client's merchant trusts (RFC 7523 §2.1).
public struct JWTBearerGrant: Grant {
    public static let type = GrantType.jwtBearer

    private let issuers: TrustedIssuers
    private let subjects: IssuerSubjects
    private let verifier: AssertionVerifier
    private let providers: ProviderAssertions
    private let audiences: [String]
    private let clock: any WallClock
    private let random: any RandomSource

    /// `audiences` are our own names: the issuer's first, then the URLs of the token endpoint.
    public init(
        issuers: TrustedIssuers, subjects: IssuerSubjects, verifier: AssertionVerifier,
        providers: ProviderAssertions, audiences: [String], clock: any WallClock, random: any RandomSource
    ) {
        self.issuers = issuers
        self.subjects = subjects
        self.verifier = verifier
        self.providers = providers
        self.audiences = audiences
        self.clock = clock
        self.random = random
    }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let token = try request.parameters.require(.assertion)
        guard token.utf8.count <= Assertion.longest else {
            throw OAuthError.malformed(.assertion, "it is longer than 16 KiB")
        }
        let scope = try client.granted(request.parameters[.scope], within: client.scope.withoutAdministration)
        if client.spidCompatible, ProviderAssertion.isMeant(by: token) {
            return try await authorize(byProvider: token, request, scope: scope, client: client)
        }
        let issuer = try await issuer(of: token, for: client)
        let assertion = try await verified(token, by: issuer)

        let link = try await subjects.find(assertion.subject, of: issuer.id)
        guard link?.isDisabled != true else { throw OAuthError.assertionOfDisabledAccount }
        guard link != nil || issuer.createsUsers else { throw OAuthError.assertionOfUnknownUser }
        let account = link?.account ?? .random(from: random)
        return Authorization(
            client: client, subject: Subject(account: account, signedInAt: assertion.signedInAt), scope: scope,
            family: .new(parent: nil), refresh: client.may(.refreshToken) ? .issue : .none,
            claim: RememberedClaim(
                claim: AssertionClaim(
                    assertion: assertion, issuer: issuer.id, account: account, isNewcomer: link == nil),
                account: account, login: login(request, client, by: issuer.issuer)))
    }

    /// A provider's access token, as SPiD's SDKs send it. It makes no account: the app asks the person, and registers.
    private func authorize(
        byProvider token: String, _ request: TokenRequest, scope: Scope, client: Client
    ) async throws -> Authorization {
        let holder = try await providers.holder(token, for: .authorization, from: client)
        guard let link = try await subjects.find(holder.subject, of: holder.issuer) else {
            throw OAuthError.unknownUser
        }
        guard !link.isDisabled else { throw OAuthError.providerAccountDisabled }
        return Authorization(
            client: client, subject: Subject(account: link.account, signedInAt: clock.now), scope: scope,
            family: .new(parent: nil), refresh: client.may(.refreshToken) ? .issue : .none,
            claim: RememberedClaim(
                claim: ProviderClaim(holder: holder, account: link.account), account: link.account,
                login: login(request, client, by: holder.provider.rawValue)))
    }

    private func login(_ request: TokenRequest, _ client: Client, by provider: String) -> Login.Attempt {
        Login.Attempt(
            id: .random(from: random), client: client.id.text, kind: .thirdParty, provider: provider,
            address: request.address, userAgent: request.userAgent)
    }

    /// The issuer that the assertion names, among those of the client's own merchant. Nothing is believed of it yet.
    private func issuer(of token: String, for client: Client) async throws -> TrustedIssuer {
        guard let merchant = client.merchant else { throw OAuthError.assertionWithoutMerchant(client.id) }
        guard let name = try Self.claimedIssuer(token), let issuer = try await issuers.find(name, of: merchant) else {
            throw OAuthError.assertionOfUnknownIssuer
        }
        guard issuer.disabledAt == nil else { throw OAuthError.assertionOfDisabledIssuer }
        return issuer
    }

    private static func claimedIssuer(_ token: String) throws(OAuthError) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let claims = try? JSON(parsing: payload)
        else {
            throw .assertion(.malformed)
        }
        // A NUL is nobody's name, and no question to a database.
        return claims["iss"]?.string.flatMap { $0.utf8.contains(0) ? nil : $0 }
    }

    private func verified(_ token: String, by issuer: TrustedIssuer) async throws -> Assertion {
        do {
            let jwt = try await verifier.verify(token, of: issuer)
            return try Assertion(jwt, by: issuer, to: audiences, at: clock.now)
        } catch let rejection as JWTRejection {
            throw OAuthError.assertion(rejection, algorithms: issuer.algorithms)
        }
    }
}
