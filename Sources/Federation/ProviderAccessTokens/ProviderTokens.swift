import Directory
public import Keys
import OAuth
public import Outbound
public import Values

/// The addresses of the providers' APIs.
public struct ProviderAddresses: Sendable {
    let facebook: String
    let googleTokens: String
    let googlePeople: String

    /// Google answers about tokens and about users at two different hosts. Any other address answers both.
    public init(facebook: String, google: String) {
        self.facebook = facebook
        googleTokens = google
        googlePeople = google == "https://oauth2.googleapis.com" ? "https://openidconnect.googleapis.com/v1" : google
    }
}

/// Asks providers about access tokens. Nothing is read from the token itself.
public struct ProviderTokens: Sendable {
    private let facebook: FacebookTokens
    private let google: GoogleTokens
    private let seal: Seal
    private let clock: any WallClock

    public init(outbound: Outbound, addresses: ProviderAddresses, seal: Seal, clock: any WallClock) {
        facebook = FacebookTokens(
            interface: ProviderInterface(provider: .facebook, address: addresses.facebook, outbound: outbound))
        google = GoogleTokens(
            tokens: ProviderInterface(provider: .google, address: addresses.googleTokens, outbound: outbound),
            people: ProviderInterface(provider: .google, address: addresses.googlePeople, outbound: outbound))
        self.seal = seal
        self.clock = clock
    }

    /// The provider's identifier of the user of `token`.
    func subject(
        of token: Secret<ProviderAssertion.Token>, at issuer: TrustedIssuer, for client: Client.ID?
    ) async throws -> String {
        let requester = ProviderInterface.Requester(merchant: issuer.merchant, client: client)
        switch issuer.app?.provider {
        case .facebook:
            return try await facebook.subject(
                of: token, issuedTo: try facebookApp(of: issuer, requester), at: clock.now)
        case .google: return try await google.answer(about: token, issuedTo: issuer.audiences, for: requester).subject
        // Apple has no access tokens to ask about.
        case .apple, nil: throw OAuthError.assertionOfUnknownIssuer
        }
    }

    /// The user of `token`, with what the provider knows about them.
    func person(
        of token: Secret<ProviderAssertion.Token>, at issuer: TrustedIssuer, for client: Client.ID?
    ) async throws -> (subject: String, person: ProviderUser) {
        let requester = ProviderInterface.Requester(merchant: issuer.merchant, client: client)
        switch issuer.app?.provider {
        case .facebook:
            let app = try facebookApp(of: issuer, requester)
            let subject = try await facebook.subject(of: token, issuedTo: app, at: clock.now)
            return (subject, try await facebook.person(subject, with: token, issuedTo: app))
        case .google:
            let answer = try await google.answer(about: token, issuedTo: issuer.audiences, for: requester)
            return (answer.subject, try await google.person(answer, with: token, for: requester))
        // Apple has no access tokens to ask about.
        case .apple, nil: throw OAuthError.assertionOfUnknownIssuer
        }
    }

    private func facebookApp(
        of issuer: TrustedIssuer, _ requester: ProviderInterface.Requester
    ) throws -> FacebookTokens.App {
        // Registration ensures both.
        guard let id = issuer.audiences.first, let sealed = issuer.app?.sealedSecret else {
            throw OAuthError.providerUnknown(.facebook)
        }
        return FacebookTokens.App(
            id: id, secret: Secret(try seal.open(sealed, .appSecret, row: issuer.id.text)), requester: requester)
    }
}
