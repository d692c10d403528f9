public import Cryptography
public import JOSE
public import JSON
import Values

/// What a client registered of OpenID Connect (Dynamic Client Registration §2, Back-Channel Logout §2.2).
public struct OpenIDSettings: Sendable, Equatable {
    /// Where the client's own public keys are.
    public enum Keys: Sendable, Equatable {
        case none
        case keySet(RegisteredKeySet)
        case address(String)
    }

    /// Who a person is to the client (OpenID Connect Core §8).
    public enum SubjectType: Sendable, Equatable {
        case `public`
        /// Another name for every sector, which is a host.
        case pairwise(sector: String)

        var name: String { self == .public ? "public" : "pairwise" }
    }

    public enum AccessTokenFormat: String, Sendable { case opaque, jwt }

    /// `code` unless said otherwise: implicit and hybrid answers are off unless a client asks for them.
    public var responseTypes: [ResponseType] = [.code]
    public var idTokenAlgorithm: PrivateKey.Algorithm = .rs256
    public var idTokenLifetime: Duration = .hours(1)
    /// Whether its ID tokens tell what userinfo does of the scope, also where an access token comes along.
    public var idTokenCarriesScope = false
    /// Claims of its ID tokens, by name, from the attribute of the person that each names.
    public var claims: [String: String] = [:]
    public var subjectType: SubjectType = .public
    /// Where the addresses of all clients of its sector are listed.
    public var sectorIdentifierURI: String?
    /// Nil when userinfo is answered in plain JSON.
    public var userinfoAlgorithm: PrivateKey.Algorithm?
    public var requestObjectAlgorithm: SignatureAlgorithm?
    /// Where request objects of its own may be fetched.
    public var requestURIs: [String] = []
    /// The one algorithm of its client assertions, if it named one.
    public var authenticationAlgorithm: SignatureAlgorithm?
    /// Whether its client assertions must name the issuer, and not the token endpoint (RFC 7523bis §4).
    public var addressesIssuer = false
    public var keys: Keys = .none
    public var accessTokenFormat: AccessTokenFormat = .opaque
    /// The audiences its tokens may be asked for (RFC 8707), besides us.
    public var resources: [String] = []
    public var defaultMaxAge: Duration?
    public var backChannelLogoutURI: String?
    public var sendsSessionID = false
    /// What it says of itself for people and its own administrators: kept and shown as it was given.
    public var information: [JSON.Member] = []

    /// Whether nothing may tell the client a person's number, by which clients could compare whom they know.
    public var isPairwise: Bool { subjectType != .public }

    public init() {}

    /// No JWT of ours lives longer: that long its key is published after it signed last (`KeyRotation`).
    public static let longestJWT: Duration = .days(30)
}
