import Cryptography
public import Directory
import JSON
public import Keys
public import OAuth
public import Values

/// Mints bearer tokens, with an ID token for the scope `openid` (OpenID Connect Core §3.1.3.3, §12.2). `IDToken` writes
/// the claims of an ID token.
public struct IDTokenMint: TokenMint {
    private let bearer: BearerTokenMint
    private let ids: IDTokens
    private let clock: any WallClock

    public init(bearer: BearerTokenMint, ids: IDTokens, clock: any WallClock) {
        self.bearer = bearer
        self.ids = ids
        self.clock = clock
    }

    public func tokens(for authorization: Authorization) async throws -> TokenResponse? {
        guard let subject = authorization.subject, authorization.scope.contains(Scope.openID) else {
            return try await bearer.tokens(for: authorization)
        }
        // Everything that can fail comes before the redemption, so that no code is spent without a response.
        let draft = try await ids.draft(
            of: subject, for: authorization.client, scope: authorization.scope, asked: authorization.request,
            carriesScope: authorization.client.openID.idTokenCarriesScope)
        guard var response = try await bearer.tokens(for: authorization) else { return nil }
        response.idToken = draft.signed(at: response.issuedAt, accessToken: response.accessToken.value)
        return response
    }
}

/// What signs the ID tokens and logout tokens of one client.
enum IDTokenSigner: Sendable {
    case key(SigningKey)
    case secret(SignSecret)

    func sign(_ claims: JSON, type: String) -> String {
        switch self {
        case .key(let key): key.sign(claims, type: type)
        case .secret(let secret): secret.sign(claims, type: type)
        }
    }

    /// Whether the signature uses SHA-512, and therefore the hashes of an ID token too (Core §3.1.3.6).
    var isSHA512: Bool {
        guard case .key(let key) = self else { return false }
        return key.algorithm == .edDSA
    }
}

/// The signers of all clients.
public struct IDTokenSigners: Sendable {
    let ring: KeyRing
    let secrets: SignSecrets

    public init(ring: KeyRing, secrets: SignSecrets) {
        self.ring = ring
        self.secrets = secrets
    }

    func current(for client: Client) async throws -> IDTokenSigner {
        switch client.openID.idTokenAlgorithm {
        case .key(let algorithm): .key(try await ring.current(algorithm))
        case .signSecret: .secret(try secrets.open(client))
        }
    }
}
