public import Directory
import OAuth
public import Values

/// Accepts the assertions of SPiD's SDKs: checks client and purpose, and finds the user of the provider's token.
public struct ProviderAssertions: Sendable {
    private let issuers: TrustedIssuers
    private let secrets: SignSecrets
    private let tokens: ProviderTokens
    private let origin: String
    private let tokenEndpoints: [String]
    private let clock: any WallClock

    /// `origin` is the base of our own URLs, as clients know them, and so of `tokenEndpoints`.
    public init(
        issuers: TrustedIssuers, secrets: SignSecrets, tokens: ProviderTokens, origin: String,
        tokenEndpoints: [String], clock: any WallClock
    ) {
        self.issuers = issuers
        self.secrets = secrets
        self.tokens = tokens
        self.origin = origin
        self.tokenEndpoints = tokenEndpoints
        self.clock = clock
    }

    /// A user as a provider identifies them, within one merchant.
    struct Holder: Sendable {
        /// The issuer as it was when the provider was asked.
        let trusted: TrustedIssuer
        let provider: Provider
        let subject: String

        var issuer: TrustedIssuer.ID { trusted.id }
    }

    /// The user of the provider's token in `text`.
    func holder(_ text: String, for purpose: ProviderAssertion.Purpose, from client: Client) async throws -> Holder {
        let (assertion, issuer) = try await accepted(text, for: purpose, from: client)
        return Holder(
            trusted: issuer, provider: assertion.provider,
            subject: try await tokens.subject(of: assertion.token, at: issuer, for: client.id))
    }

    /// The same, with what the provider knows about the user.
    func user(
        _ text: String, for purpose: ProviderAssertion.Purpose, from client: Client
    ) async throws -> (holder: Holder, user: ProviderUser) {
        let (assertion, issuer) = try await accepted(text, for: purpose, from: client)
        let (subject, user) = try await tokens.user(of: assertion.token, at: issuer, for: client.id)
        return (Holder(trusted: issuer, provider: assertion.provider, subject: subject), user)
    }

    /// Checks everything that does not need the provider, in the order of RFC 7523 §3.
    private func accepted(
        _ text: String, for purpose: ProviderAssertion.Purpose, from client: Client
    ) async throws -> (ProviderAssertion, TrustedIssuer) {
        let merchant = try Self.merchant(of: client)
        let assertion = try ProviderAssertion(text, signedWith: try secrets.open(client))
        guard let issuer = try await issuers.find(assertion.provider.issuer, of: merchant),
            let app = issuer.app, issuer.disabledAt == nil
        else { throw OAuthError.providerUnknown(assertion.provider) }
        guard (app.names + issuer.audiences).contains(assertion.issuer) else {
            throw OAuthError.providerAssertionIssuer
        }
        let isTolerated = purpose == .attach && assertion.isGoogleAttachingByRegistration
        guard assertion.purpose == purpose || isTolerated else { throw OAuthError.providerAssertionPurpose }
        let ours = addresses(for: isTolerated ? .registration : purpose)
        guard ours.contains(assertion.audience) else { throw OAuthError.providerAssertionAudience(ours) }
        guard clock.now < assertion.expiresAt else { throw OAuthError.providerAssertionExpired }
        return (assertion, issuer)
    }

    /// The merchant of a client that may send these: SPiD-compatible, and not public, because a public client's sign
    /// secret is not secret.
    private static func merchant(of client: Client) throws(OAuthError) -> Merchant.ID {
        guard client.may(.sendProviderTokens) else {
            throw .providerNotForClient(client.id, "This client is not set to SPiD compatibility.")
        }
        guard client.may(.signBySecret) else {
            throw .providerNotForClient(client.id, "A public client has no sign secret to sign this with.")
        }
        guard client.may(.jwtBearer) else { throw .grantNotAllowed(client.id) }
        guard let merchant = client.merchant else { throw .assertionWithoutMerchant(client.id) }
        return merchant
    }

    private func addresses(for purpose: ProviderAssertion.Purpose) -> [String] {
        switch purpose {
        case .authorization: tokenEndpoints
        case .registration: [origin + "/api/2/signup_jwt"]
        // SPiD's SDK for iOS names one of them and posts to the other.
        case .attach: ["/api/2/user/attach_jwt", "/api/2/attach_jwt"].map { origin + $0 }
        }
    }
}

extension ProviderAssertion {
    /// SPiD's SDK for Android attaches a Google account with the claims of a registration.
    fileprivate var isGoogleAttachingByRegistration: Bool { provider == .google && purpose == .registration }
}
