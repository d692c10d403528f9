public import Cryptography
public import JOSE
public import JSON
import Values

/// A client's registered OpenID Connect settings (Dynamic Client Registration §2, Back-Channel Logout §2.2).
public struct OpenIDSettings: Sendable, Equatable {
    /// Where the client's public keys are.
    public enum Keys: Sendable, Equatable {
        case none
        case keySet(RegisteredKeySet)
        case address(String)
    }

    /// Which subject identifier the client gets for a user (OpenID Connect Core §8).
    public enum SubjectType: Sendable, Equatable {
        case `public`
        /// A different identifier for each sector, which is a host.
        case pairwise(sector: String)

        var name: String { self == .public ? "public" : "pairwise" }
    }

    public enum AccessTokenFormat: String, Sendable { case opaque, jwt }

    /// `code` by default: implicit and hybrid responses are off unless a client asks for them.
    public var responseTypes: [ResponseType] = [.code]
    public var idTokenAlgorithm: IDTokenAlgorithm = .key(.rs256)
    public var idTokenLifetime: Duration = .hours(1)
    /// Whether its ID tokens carry the userinfo claims of the scope even when an access token is issued, too.
    public var idTokenCarriesScope = false
    /// The additional claims of its ID tokens, by name, with the user's attribute that each is taken from.
    public var claims: [String: String] = [:]
    public var subjectType: SubjectType = .public
    /// The document that lists the redirect URIs of all clients of its sector.
    public var sectorIdentifierURI: String?
    /// Nil when userinfo responses are plain JSON.
    public var userinfoAlgorithm: PrivateKey.Algorithm?
    public var requestObjectAlgorithm: SignatureAlgorithm?
    /// The URLs from which its request objects may be fetched.
    public var requestURIs: [String] = []
    /// The only algorithm of its client assertions, if it named one.
    public var authenticationAlgorithm: SignatureAlgorithm?
    /// Whether its client assertions must name the issuer, and not the token endpoint (RFC 7523bis §4).
    public var addressesIssuer = false
    public var keys: Keys = .none
    public var accessTokenFormat: AccessTokenFormat = .opaque
    /// The audiences that its tokens may be requested for (RFC 8707), in addition to this server.
    public var resources: [String] = []
    public var defaultMaxAge: Duration?
    public var backChannelLogoutURI: String?
    public var sendsSessionID = false
    /// Descriptive members for users and for the client's administrators: stored and shown as given.
    public var information: [JSON.Member] = []

    /// Whether the client must not see user ids, by which clients could compare their users.
    public var isPairwise: Bool { subjectType != .public }

    public init() {}

    /// The longest lifetime of the server's JWTs. A key stays published that long after its last signature
    /// (`KeyRotation`).
    public static let longestJWT: Duration = .days(30)
}
