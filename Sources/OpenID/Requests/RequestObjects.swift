import Cryptography
public import Directory
public import JOSE
import JSON
public import OAuth
public import Storage
public import Values

/// Reads request objects, whose signature proves which client makes the request (OpenID Connect Core §6.1, RFC 9101).
/// It proves no more: the same parameters are accepted unsigned too, so the browser may omit some.
///
/// An object with a `jti` is accepted once, when its parameters are stored: from then on the browser carries them. One
/// without may be used again until it expires, like an unsigned request: the user who is present decides about it, and
/// `state` and `nonce` tell the client when a response is not its own.
public struct RequestObjects: Sendable {
    /// How far a client's clock may be ahead of ours.
    private static let clockSkew: Duration = .seconds(60)
    /// An ID token or an assertion must not pass for a request object (RFC 8725 §3.11).
    private static let types = ["jwt", "oauth-authz-req+jwt", "application/oauth-authz-req+jwt"]
    /// The accepted algorithms. HMAC is not one: we do not know the client's secret.
    public static let algorithms = SignatureAlgorithm.allCases.filter { !$0.isSymmetric }

    private let keys: ClientKeys
    private let addresses: RequestAddresses
    private let issuer: String
    private let replays: ReplayMemory
    private let clock: any WallClock

    public init(
        keys: ClientKeys, addresses: RequestAddresses, issuer: String, replays: ReplayMemory, clock: any WallClock
    ) {
        self.keys = keys
        self.addresses = addresses
        self.issuer = issuer
        self.replays = replays
        self.clock = clock
    }

    /// The content of a valid object. It is not spent yet.
    public struct Opened: Sendable {
        /// They take precedence over those beside the object.
        public let parameters: [(name: String, value: String)]
        fileprivate let use: ReplayMemory.SingleUse?

        /// Spends an object with a `jti` in the transaction that charges its sender and stores the parameters: anyone
        /// may send one, and a refused one may be sent again. Throws an `OAuthError` when it was spent before.
        @Sendable public func spend(in db: any Transaction) throws {
            guard try use?.isFirst(in: db) ?? true else {
                throw OAuthError.requestObjectRefused(
                    "request_object_replayed", "its jti was used before: each request needs a new object")
            }
        }
    }

    /// Opens `text`, a request object of `client`.
    public func open(_ text: String, from client: Client) async throws -> Opened {
        guard !Self.isUnsigned(text) else { throw OAuthError.requestNotSupported }
        let jwt = try await verified(text, from: client)
        return Opened(parameters: try parameters(in: jwt), use: try use(of: jwt, from: client))
    }

    /// As above, for the object at the URL `address`, which a browser at the IP address `browser` brought.
    public func open(at address: String, from client: Client, for browser: String) async throws -> Opened {
        try await open(try await addresses.object(at: address, of: client, for: browser), from: client)
    }

    private func verified(_ text: String, from client: Client) async throws -> VerifiedJWT {
        do {
            let pinned = client.openID.requestObjectAlgorithm.map { [$0] } ?? Self.algorithms
            let jwt = try await keys.verify(text, of: client, allowed: Set(pinned))
            try judge(jwt, of: client)
            return jwt
        } catch let rejection as JWTRejection {
            throw OAuthError.requestObjectRefused("request_object_rejected", "\(rejection)")
        } catch let error where !(error is OAuthError || error is CancellationError) {
            throw OAuthError.clientKeysUnavailable(client.id, "\(error)")
        }
    }

    private func parameters(in jwt: VerifiedJWT) throws -> [(name: String, value: String)] {
        try (jwt.claims.members ?? []).compactMap { member in
            guard let parameter = Parameter(rawValue: member.name) else { return nil }
            guard let value = Self.value(member.value) else {
                throw OAuthError.requestObjectRefused("request_object_member", "\(parameter.rawValue) is malformed")
            }
            return (member.name, value)
        }
    }

    private func judge(_ jwt: VerifiedJWT, of client: Client) throws {
        func refused(_ reason: String, _ hint: String) -> OAuthError { .requestObjectRefused(reason, hint) }
        guard jwt.isTyped(asOneOf: Self.types) else {
            throw refused("request_object_type", "its typ is not that of a request object")
        }
        guard try jwt.issuer.map({ $0 == client.id.text }) ?? true else {
            throw refused("request_object_issuer", "its iss is not the client_id")
        }
        guard jwt.claims["client_id"].map({ $0.string == client.id.text }) ?? true else {
            throw refused("request_object_client", "its client_id differs from the one beside it")
        }
        // RFC 9101 §10.8: with that `sub`, the object could be replayed to authenticate the client.
        guard try jwt.subject != client.id.text else {
            throw refused("request_object_subject", "its sub is the client_id")
        }
        guard try jwt.audience.map({ $0.contains(issuer) }) ?? true else {
            throw refused("request_object_audience", "its aud does not contain this server's issuer")
        }
        let now = clock.now
        guard try jwt.expiresAt.map({ now < $0 }) ?? true else { throw refused("request_object_expired", "it expired") }
        guard try jwt.notBefore.map({ $0 <= now + Self.clockSkew }) ?? true else {
            throw refused("request_object_early", "it is not valid yet")
        }
        if let identifier = try jwt.identifier {
            guard !identifier.isEmpty else { throw refused("request_object_jti", "its jti is empty") }
            guard let end = try jwt.expiresAt, end <= now + ReplayMemory.longestLife else {
                throw refused("request_object_lives_too_long", "with a jti it needs an exp, at most 24 hours ahead")
            }
        }
        // Core §6.1: no request within the request.
        guard jwt.claims["request"] == nil, jwt.claims["request_uri"] == nil else {
            throw refused("request_object_nested", "it contains request or request_uri")
        }
    }

    private func use(of jwt: VerifiedJWT, from client: Client) throws -> ReplayMemory.SingleUse? {
        guard let identifier = try jwt.identifier, let end = try jwt.expiresAt else { return nil }
        return replays.use(of: identifier, in: .requestObject, of: client.id, until: end)
    }

    /// The value as a query would have it; nil for a value that cannot be in one.
    private static func value(_ json: JSON) -> String? {
        switch json {
        case .string(let text): text
        case .integer(let number): String(number)
        case .object: json.text
        default: nil
        }
    }

    private static func isUnsigned(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let header = Base64URL.decode(first), let json = try? JSON(parsing: header)
        else { return false }
        return json["alg"]?.string == "none"
    }
}
