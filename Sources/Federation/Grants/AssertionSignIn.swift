import Authentication
public import Cryptography
import Directory
import JOSE
import JSON
import OAuth
public import Values

/// Signs in the user that a trusted issuer's token identifies; shared by the grants that accept one.
public struct AssertionSignIn: Sendable {
    private let issuers: TrustedIssuers
    private let verifier: AssertionVerifier
    private let users: IssuerUsers
    private let audiences: [String]
    private let clock: any WallClock
    private let random: any RandomSource

    /// `audiences` are our own names: the issuer URL first, then the URLs of the token endpoint.
    public init(
        issuers: TrustedIssuers, verifier: AssertionVerifier, users: IssuerUsers, audiences: [String],
        clock: any WallClock, random: any RandomSource
    ) {
        self.issuers = issuers
        self.verifier = verifier
        self.users = users
        self.audiences = audiences
        self.clock = clock
        self.random = random
    }

    /// The authorization that `client` gets for `token`, which `request` presents as `use`.
    func authorization(
        for token: String, as use: AssertionUse, _ request: TokenRequest, scope: Scope, client: Client
    ) async throws -> Authorization {
        guard token.utf8.count <= Assertion.longest else {
            throw OAuthError.malformed(use.parameter, "it is longer than 16 KiB")
        }
        do {
            let issuer = try await issuer(of: token, for: client)
            let assertion = try await verified(token, by: issuer, nonce: request.parameters[.nonce])
            let finding = try await users.find(assertion.issuerUser)
            let user = try user(finding)
            let signIn = SignIn(
                at: assertion.signedInAt, by: .issuer, isDated: assertion.saysWhen, issuer: issuer.id.text)
            return Authorization(
                client: client, subject: Subject(user: user, signIn), scope: scope, family: .new(.signIn(signIn)),
                refresh: client.may(.refreshToken) ? .issue : .none,
                redemption: RememberedRedemption(
                    redemption: AssertionRedemption(
                        assertion: assertion, users: users, finding: finding, user: user, use: use),
                    user: user, login: .word(of: issuer.issuer, request, client, random)))
        } catch let refusal as OAuthError {
            throw use.refusal(refusal)
        }
    }

    private func user(_ finding: IssuerUsers.Finding) throws(OAuthError) -> UserID {
        switch finding {
        case .known(let user), .linkable(let user): user
        case .newcomer: .random(from: random)
        case .unknown: throw .assertionOfUnknownUser
        case .disabled, .leaving: throw .assertionOfDisabledAccount
        case .addressTaken: throw .assertionOfTakenAddress
        case .removed: throw .assertionOfRemovedLink
        }
    }

    /// The issuer that the token names, among those of the client's own merchant. Nothing in the token is verified yet.
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
        // No issuer has a NUL in its name, and no database query may contain one.
        return claims["iss"]?.string.flatMap { $0.utf8.contains(0) ? nil : $0 }
    }

    private func verified(_ token: String, by issuer: TrustedIssuer, nonce: String?) async throws -> Assertion {
        do {
            let jwt = try await verifier.verify(token, of: issuer)
            return try Assertion(jwt, by: issuer, to: audiences, nonce: nonce, at: clock.now)
        } catch let rejection as JWTRejection {
            throw OAuthError.assertion(rejection, algorithms: issuer.algorithms)
        }
    }
}

extension Login.Attempt {
    /// A login that `provider` asserted.
    static func word(
        of provider: String, _ request: TokenRequest, _ client: Client, _ random: any RandomSource
    ) -> Login.Attempt {
        Login.Attempt(
            id: .random(from: random), client: client.id, kind: .thirdParty, provider: provider,
            address: request.address, userAgent: request.userAgent)
    }
}
