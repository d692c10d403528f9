public import Logging
public import Mail
public import Values

/// Everything an operator can set, read and checked: inside there are only good values.
public struct SpindleConfiguration: Sendable {
    public var listen: ListenAddress
    public var issuer: IssuerURL
    public var database: DatabaseLocation
    public var masterKey: MasterKeyLocation
    /// When set, `/admin` is served there only.
    public var adminListen: ListenAddress?
    /// When set, we speak HTTPS ourselves.
    public var tls: CertificateFiles?
    public var sessionSameSite: SameSite
    /// Whose `Forwarded` and `X-Forwarded-*` are believed.
    public var trustedProxies: [CIDR]
    /// Private networks that outgoing requests may reach. Weakens the server; `spindle doctor` says so.
    public var outboundAllowPrivate: [CIDR]
    /// How long a client may take to send a request.
    public var requestTimeout: Duration
    /// How long a connection may stay silent between requests.
    public var idleTimeout: Duration
    public var maxConnections: Int
    public var mail: MailLocation
    /// Who our mails are from.
    public var mailFrom: Sender
    /// A folder of templates, texts and a stylesheet that replace ours.
    public var templates: String?
    /// How long a person who asked to be deleted can change their mind.
    public var deletionGrace: Duration
    /// How long a signing key signs; nil is for ever.
    public var keyRotation: Duration?
    /// Where the terms of this server are, which people accept who sign up. New terms have a new address.
    public var terms: String?
    /// Calls of SPiD's API that a client may make in an hour.
    public var apiLimit: Int
    /// Where Facebook's and Google's access tokens are checked.
    public var facebookAPI: String
    public var googleAPI: String
    /// When set, people may ask for their own data with name and password by HTTP Basic, in this realm.
    public var basicRealm: String?
    /// Whether clients that registered themselves get access tokens with an authorization answer.
    public var unsafeFrontChannelTokens: Bool
    public var logLevel: Logger.Level
    public var logFormat: LogFormat

    /// The certificate chain and its private key, in PEM files.
    public struct CertificateFiles: Sendable, Hashable {
        public let certificate: String
        public let key: String

        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Which sites' pages the session cookie goes along with (RFC 6265bis §4.1.2.7).
    public enum SameSite: String, Sendable {
        case lax
        /// Other sites' web apps may ask for the session; https only.
        case none
    }
}
