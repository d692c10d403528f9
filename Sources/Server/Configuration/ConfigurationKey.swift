/// Every setting, by its name in a configuration file.
enum ConfigurationKey: String, CaseIterable, Sendable {
    case listen, issuer, database
    case masterKeyFile = "master_key_file"
    case masterKey = "master_key"
    case adminListen = "admin_listen"
    case tlsCertificate = "tls_certificate"
    case tlsKey = "tls_key"
    case sessionSameSite = "session_samesite"
    case trustedProxies = "trusted_proxies"
    case outboundAllowPrivate = "outbound_allow_private"
    case requestTimeout = "request_timeout"
    case idleTimeout = "idle_timeout"
    case maxConnections = "max_connections"
    case mail
    case mailFrom = "mail_from"
    case sms
    case smsSecret = "sms_secret"
    case templates
    case deletionGrace = "deletion_grace"
    case eventRetention = "event_retention"
    case keyRotation = "key_rotation"
    case terms
    case privacy
    case introspectionCache = "introspection_cache"
    case apiLimit = "api_limit"
    case facebookAPI = "facebook_api"
    case googleAPI = "google_api"
    case basicRealm = "basic_realm"
    case unsafeFrontChannelTokens = "unsafe_front_channel_tokens"
    case logLevel = "log_level"
    case logFormat = "log_format"
    case logAddresses = "log_addresses"

    static let environmentPrefix = "SPINDLE_"

    var environmentVariable: String { Self.environmentPrefix + rawValue.uppercased() }
    /// Whether its value may hold a password or a key.
    var mayHoldSecret: Bool { [.masterKey, .smsSecret, .database, .mail, .sms].contains(self) }

    var option: String { "--" + rawValue.replacing("_", with: "-") }
}
