import BrowserPages
import Cryptography
import Federation
import HTTPSupport
import Keys
import Outbound
import Storage
import Values

/// The wiring of other issuers: how they are asked about people, and how people go there and come back.
struct FederationFeature {
    let providers: ProviderTokens
    let verifier: AssertionVerifier
    let people: IssuerUsers
    private let directory: IssuerDirectory
    private let tokens: IdentityProviderTokens

    init(
        _ configuration: SpindleConfiguration, _ stores: Stores, site: Site, outbound: Outbound, seal: Seal,
        ring: KeyRing, clock: any WallClock, random: any RandomSource
    ) {
        providers = ProviderTokens(
            outbound: outbound,
            addresses: ProviderAddresses(facebook: configuration.facebookAPI, google: configuration.googleAPI),
            seal: seal, clock: clock)
        directory = IssuerDirectory(
            outbound: outbound, facebook: configuration.facebookAPI, site: site.origin, clock: clock)
        verifier = AssertionVerifier(
            published: IssuerKeys(outbound: outbound, clock: clock), directory: directory, seal: seal)
        people = IssuerUsers(database: stores.database, notice: LinkNotice(mail: stores.mail).say)
        tokens = IdentityProviderTokens(outbound: outbound, seal: seal, ring: ring, clock: clock, random: random)
    }

    /// What sends `others` there and takes them back.
    func endpoints(for others: People, _ parts: Parts, site: Site, seal: Seal) -> [any Endpoint] {
        let (database, clock, random) = (parts.database, parts.clock, parts.random)
        let requests = IdentityProviderRequests(database: database, clock: clock)
        let endpoint = IdentityProviderEndpoint(
            pages: others.pages,
            signIn: IdentityProviderSignIn(
                requests: requests,
                partners: IdentityProviderSignIn.Partners(
                    directory: directory, verifier: verifier, tokens: tokens, providers: providers),
                seal: seal, origin: site.origin, clock: clock, random: random),
            requests: requests,
            entrance: IdentityProviderEntrance(
                database: database, people: people, sessions: others.sessions, clock: clock, random: random),
            arrivals: others.arrivals, verifications: others.verifications, clock: clock, random: random)
        return [endpoint, ConnectEndpoint(gate: others.gate, upstream: endpoint)]
    }
}
