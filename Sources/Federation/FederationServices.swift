public import Cryptography
public import Directory
public import Keys
public import Outbound
public import Storage
public import Values

/// What this module offers the modules above it. The issuers are apart, because commands need them too.
public struct FederationServices: Sendable {
    public let directory: IssuerDirectory
    public let verifier: AssertionVerifier
    public let users: IssuerUsers
    public let subjects: IssuerSubjects
    public let requests: IdentityProviderRequests
    public let tokens: IdentityProviderTokens
    public let providers: ProviderTokens
    public let providerAssertions: ProviderAssertions
    public let assertions: AssertionSignIn

    /// The addresses of Facebook and Google.
    public struct Addresses: Sendable {
        let facebook: String
        let google: String

        public init(facebook: String, google: String) {
            self.facebook = facebook
            self.google = google
        }
    }

    /// - Parameters:
    ///   - operators: asks `addresses`, which are the operator's own.
    ///   - issuer: what the `aud` of an assertion for us may be, as one of `tokenEndpoints` may.
    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, seal: Seal, ring: KeyRing,
        outbound: Outbound, operators: Outbound, issuers: TrustedIssuers, signSecrets: SignSecrets,
        addresses: Addresses, issuer: String, origin: String, tokenEndpoints: [String], events: UserEvents
    ) {
        providers = ProviderTokens(
            outbound: operators,
            addresses: ProviderAddresses(facebook: addresses.facebook, google: addresses.google), seal: seal,
            clock: clock)
        directory = IssuerDirectory(
            outbound: outbound, facebook: addresses.facebook, site: origin, clock: clock)
        verifier = AssertionVerifier(
            published: IssuerKeys(outbound: outbound, clock: clock), directory: directory, seal: seal)
        users = IssuerUsers(database: database, events: events)
        subjects = IssuerSubjects(database: database, events: events)
        requests = IdentityProviderRequests(database: database, clock: clock)
        tokens = IdentityProviderTokens(
            outbound: outbound, operators: operators, seal: seal, ring: ring, clock: clock, random: random)
        providerAssertions = ProviderAssertions(
            issuers: issuers, secrets: signSecrets, tokens: providers, origin: origin,
            tokenEndpoints: tokenEndpoints, clock: clock)
        assertions = AssertionSignIn(
            issuers: issuers, verifier: verifier, users: users, audiences: [issuer] + tokenEndpoints, clock: clock,
            random: random)
    }
}
