public import Authentication
public import Cryptography
public import Directory
public import Keys
public import OAuth
public import Storage
public import Values

/// What this module offers the modules above it.
public struct OpenIDServices: Sendable {
    public let names: SubjectIdentifiers
    public let claims: UserClaims
    public let hints: IDTokenHints
    public let idTokens: IDTokens
    /// Mints tokens for grants without an ID token.
    public let bearer: BearerTokenMint
    /// Mints tokens for every grant.
    public let mint: IDTokenMint
    public let logouts: LogoutTokens
    public let securityEvents: SecurityEventTokens

    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, seal: Seal, ring: KeyRing,
        signSecrets: SignSecrets,
        clients: Clients, merchants: Merchants, users: Users, consents: Consents, callbacks: Callbacks, issuer: String
    ) {
        let names = SubjectIdentifiers(database: database, random: random)
        let signers = IDTokenSigners(ring: ring, secrets: signSecrets)
        self.names = names
        let claims = UserClaims(users: users, consents: consents)
        self.claims = claims
        hints = IDTokenHints(issuer: issuer, signers: signers, names: names, clients: clients)
        idTokens = IDTokens(issuer: issuer, signers: signers, names: names, claims: claims)
        bearer = BearerTokenMint(
            database: database, clients: clients,
            jwts: JWTAccessTokens(
                issuer: issuer, ring: ring, name: { try await names.subject($0, for: $1) },
                claims: { try await claims.ofAccessToken($0, for: $1) }),
            number: { try await names.number($0, for: $1) },
            callbacks: callbacks, seal: seal, clock: clock, random: random)
        mint = IDTokenMint(bearer: bearer, ids: idTokens, clock: clock)
        logouts = LogoutTokens(
            issuer: issuer, signers: signers, names: names, clients: clients, clock: clock, random: random)
        securityEvents = SecurityEventTokens(issuer: issuer, signers: signers, merchants: merchants, clock: clock)
    }
}
