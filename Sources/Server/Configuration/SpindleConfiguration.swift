import Directory
import HTTPSupport
import JSON
public import Logging
public import Mail
import OAuth
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
    /// The settings that were given, without secrets, for the event of the start.
    var given: JSON
    /// How long events are kept.
    public var eventRetention: Duration
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
    public var logAddresses: LoggedAddresses

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

extension SpindleConfiguration {
    /// Reads the command line (names as in a file), then the environment, then `file`, then the defaults.
    ///
    /// Throws all faults at once.
    public static func read(
        commandLine: [String: String], environment: [String: String], file: String?
    ) throws(ConfigurationFaults) -> SpindleConfiguration {
        var layers: [ConfigurationLayer] = [.commandLine(commandLine), .environment(environment)]
        var faults =
            RefusedSettings.faults(inEnvironment: environment)
            + RefusedSettings.unsafeFaults(inEnvironment: environment)
        if let file {
            do {
                let file = try ConfigurationFile(path: file)
                layers.append(file.layer)
                faults += RefusedSettings.faults(in: file)
            } catch {
                faults += error.faults
            }
        }
        var reading = ConfigurationReading(layers: layers)
        let configuration = SpindleConfiguration(&reading)
        faults += reading.faults
        guard let configuration, faults.isEmpty else { throw ConfigurationFaults(faults) }
        return configuration
    }

    private init?(_ reading: inout ConfigurationReading) {
        let address = "host:port, such as 127.0.0.1:8080 or [::1]:8080"
        listen = reading.value(.listen, address, ListenAddress.init) ?? ListenAddress(host: "127.0.0.1", port: 8080)
        adminListen = reading.value(.adminListen, address, ListenAddress.init)
        if adminListen?.overlaps(listen) == true { reading.refuse(.adminListen, "another address than listen") }
        tls = reading.certificateFiles()
        let issuer = reading.issuer(at: listen, isTLS: tls != nil)
        sessionSameSite = reading.sameSite(under: issuer)
        database =
            reading.value(.database, "a path, or postgresql://…", DatabaseLocation.init) ?? .sqlite(path: "spindle.db")
        if database.hasPassword, reading.place(of: .database) == ConfigurationKey.database.option {
            let place = ConfigurationKey.database.environmentVariable
            reading.refuse(
                .database,
                "given without a password on a command line, which others can read: use \(place) or PGPASSWORD")
        }
        let masterKey = reading.masterKey(of: database)
        let networks = "a list of networks in CIDR notation, such as 10.0.0.0/8"
        trustedProxies = reading.list(.trustedProxies, networks) { CIDR($0) }
        outboundAllowPrivate = reading.list(.outboundAllowPrivate, networks) { CIDR($0) }
        requestTimeout = .seconds(reading.number(.requestTimeout, of: "seconds", within: 1...3600) ?? 10)
        idleTimeout = .seconds(reading.number(.idleTimeout, of: "seconds", within: 1...3600) ?? 60)
        maxConnections = reading.number(.maxConnections, of: "connections", within: 1...1_000_000) ?? 4096
        let mail = "file: and a folder, smtp://user:password@host:port or smtps://…"
        self.mail = reading.value(.mail, mail, MailLocation.init) ?? .folder(path: "outbox/")
        let mailFrom = reading.sender(under: issuer)
        sms = reading.texts { Self.webAddress($0) != nil }
        templates = reading.value(.templates, "the path of a folder") { $0 }
        deletionGrace = .days(Int64(reading.number(.deletionGrace, of: "days", within: 0...365) ?? 14))
        eventRetention = .days(Int64(reading.number(.eventRetention, of: "days", within: 1...3650) ?? 365))
        // A key stays published for a month after its last signature. With daily rotation there would be more keys than
        // clients read.
        let days =
            reading.value(.keyRotation, "0, or a whole number of days from 7 to 3650") { text in
                Int(text).flatMap { $0 == 0 || (7...3650).contains($0) ? $0 : nil }
            } ?? 90
        keyRotation = days == 0 ? nil : .days(Int64(days))
        let webAddress = "an https URL, or an http one to this machine"
        // Kept verbatim: a trailing slash may belong to it.
        terms = reading.value(.terms, webAddress) { Self.webAddress($0) == nil ? nil : $0 }
        privacy = reading.value(.privacy, webAddress) { Self.webAddress($0) == nil ? nil : $0 }
        apiLimit = reading.number(.apiLimit, of: "calls", within: 1...1_000_000_000) ?? 360_000
        introspectionCache = .seconds(
            Int64(reading.number(.introspectionCache, of: "seconds", within: 0...3600) ?? 0))
        let interface = webAddress + ", without a query"
        facebookAPI = reading.value(.facebookAPI, interface) { Self.interface($0) } ?? Self.ownFacebookAPI
        googleAPI = reading.value(.googleAPI, interface) { Self.interface($0) } ?? Self.ownGoogleAPI
        basicRealm = reading.basicRealm()
        let flags = ["true": true, "1": true, "false": false, "0": false]
        unsafeFrontChannelTokens = reading.value(.unsafeFrontChannelTokens, "true or false") { flags[$0] } ?? false
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        logLevel = reading.value(.logLevel, "one of \(levels)", Logger.Level.init(rawValue:)) ?? .info
        logFormat = reading.value(.logFormat, "text or json", LogFormat.init(rawValue:)) ?? .text
        logAddresses =
            reading.value(.logAddresses, "full, truncated or none", LoggedAddresses.init(rawValue:)) ?? .full
        guard let issuer, let masterKey, let mailFrom else { return nil }
        given = .object(
            reading.given.sorted { $0.key.rawValue < $1.key.rawValue }.map { .init($0.key.rawValue, .string($0.value)) }
        )
        self.issuer = issuer
        self.masterKey = masterKey
        self.mailFrom = mailFrom
    }

    /// An https URL, or an http one to this machine, without a trailing slash.
    private static func webAddress(_ text: String) -> String? {
        let start = ["https://", "http://"].first { text.hasPrefix($0) }
        guard let start, RedirectURI(registering: text) != nil, hasPort(text.dropFirst(start.count)) else { return nil }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// As above, without a query, so that paths and queries can be added.
    private static func interface(_ text: String) -> String? { text.contains("?") ? nil : webAddress(text) }

    /// Whether the authority at the start of `text` has no port, or a valid one.
    static func hasPort(_ text: Substring) -> Bool {
        let authority = text.prefix { !"/?".contains($0) }
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return true }
        return UInt16(authority[colon...].dropFirst()).map { $0 > 0 } ?? false
    }
}

extension Site {
    init(_ configuration: SpindleConfiguration) {
        self.init(
            issuer: configuration.issuer.text, origin: configuration.issuer.origin,
            sameSite: configuration.sessionSameSite == .none ? .none : .lax,
            allowsUnsafeTokens: configuration.unsafeFrontChannelTokens)
    }
}
