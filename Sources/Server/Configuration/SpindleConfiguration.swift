public import Logging
public import Mail
public import Values

/// Everything an operator can set, read and checked: only valid values.
public struct SpindleConfiguration: Sendable {
    public var listen: ListenAddress
    public var issuer: IssuerURL
    public var database: DatabaseLocation
    public var masterKey: MasterKeyLocation
    /// When set, `/admin` is served there only.
    public var adminListen: ListenAddress?
    /// When set, the server speaks HTTPS itself.
    public var tls: CertificateFiles?
    public var sessionSameSite: SameSite
    /// The proxies whose `Forwarded` and `X-Forwarded-*` headers are trusted.
    public var trustedProxies: [CIDR]
    /// Private networks that outgoing requests may reach. Weakens the server; `spindle doctor` says so.
    public var outboundAllowPrivate: [CIDR]
    /// How long a client may take to send a request.
    public var requestTimeout: Duration
    /// How long a connection may stay silent between requests.
    public var idleTimeout: Duration
    public var maxConnections: Int
    public var mail: MailLocation
    /// The sender of mails.
    public var mailFrom: Sender
    /// Where text messages go; nil for none.
    public var sms: TextLocation?
    /// A folder of templates, texts and a stylesheet that replace the built-in ones.
    public var templates: String?
    /// How long a user who asked for deletion can cancel.
    public var deletionGrace: Duration
    /// How long a signing key signs; nil for no rotation.
    public var keyRotation: Duration?
    /// The URL of this server's terms, which users accept when they sign up. New terms have a new URL.
    public var terms: String?
    /// The address of the platform's privacy policy, which SPiD's API returns.
    public var privacy: String?
    /// How many calls of SPiD's API a client may make in an hour.
    public var apiLimit: Int
    /// How long a caller may cache the answer about a live token; zero for not at all.
    public var introspectionCache: Duration
    /// Where Facebook's and Google's access tokens are checked.
    public var facebookAPI: String
    public var googleAPI: String
    static let ownFacebookAPI = "https://graph.facebook.com"
    static let ownGoogleAPI = "https://oauth2.googleapis.com"
    /// When set, users may request their own data with name and password by HTTP Basic, in this realm.
    public var basicRealm: String?
    /// Whether self-registered clients may get access tokens in an authorization response.
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

    /// Whether the session cookie goes along with requests from other sites' pages (RFC 6265bis §4.1.2.7).
    public enum SameSite: String, Sendable {
        case lax
        /// Other sites' web apps may ask for the session; https only.
        case none
    }
}
