import CommandLineTool
import HTTPSupport
import JSON
import Logging
import System
import Values

/// The settings that every command takes. Some are left out, because other users of the machine can read a command
/// line: the master key itself, `mail`, which contains the mail server's password, `sms`, whose address may contain a
/// key, and its secret. `database` is refused with a password.
struct ConfigurationOptions: CommandArguments {
    @Option(help: "Read settings from FILE, JSON or YAML.", valueName: "file") var config: String?
    @Option(help: "Listen at HOST:PORT.", valueName: "host:port") var listen: String?
    @Option(help: "The issuer, verbatim.", valueName: "url") var issuer: String?
    @Option(help: "A SQLite path, or postgresql://…", valueName: "database") var database: String?
    @Option(help: "The file of the master key.", valueName: "file") var masterKeyFile: String?
    @Option(help: "Serve /admin there only.", valueName: "host:port")
    var adminListen: String?
    @Option(help: "The certificate chain, PEM.", valueName: "file") var tlsCertificate: String?
    @Option(help: "The certificate's private key, PEM.", valueName: "file") var tlsKey: String?
    @Option(name: "session-samesite", help: "lax or none.", valueName: "policy")
    var sessionSameSite: String?
    @Option(help: "Networks whose Forwarded headers are trusted.", valueName: "cidr,…")
    var trustedProxies: String?
    @Option(help: "Private networks that outgoing requests may reach.", valueName: "cidr,…")
    var outboundAllowPrivate: String?
    @Option(help: "Seconds a client may take to send a request, 1 to 3600.", valueName: "seconds")
    var requestTimeout: String?
    @Option(help: "Seconds a connection may stay silent between requests, 1 to 3600.", valueName: "seconds")
    var idleTimeout: String?
    @Option(help: "Connections open at once at each address, 1 to 1000000.", valueName: "count")
    var maxConnections: String?
    @Option(help: "The sender of mails, such as Example <no-reply@example.com>.", valueName: "sender")
    var mailFrom: String?
    @Option(help: "A folder of pages, texts and styles that replace ours.", valueName: "folder")
    var templates: String?
    @Option(help: "Days in which a user who asked for deletion can cancel it, 0 to 365.", valueName: "days")
    var deletionGrace: String?
    @Option(help: "Days that events are kept, 1 to 3650.", valueName: "days") var eventRetention: String?
    @Option(help: "Days after which the next signing key takes over, 7 to 3650; 0 is never.", valueName: "days")
    var keyRotation: String?
    @Option(help: "The terms of the platform.", valueName: "url") var terms: String?
    @Option(help: "The privacy policy of the platform.", valueName: "url") var privacy: String?
    @Option(
        help: "Calls of SPiD's API that a client may make in an hour from the first of them, 1 to 1000000000; at "
            + "most a tenth of them with one user's tokens. Each node counts separately, in memory.",
        valueName: "count")
    var apiLimit: String?
    @Option(help: "Seconds a caller may cache the answer about a live token, 0 to 3600.", valueName: "seconds")
    var introspectionCache: String?
    @Option(
        name: "facebook-api",
        help: "Where Facebook's tokens are checked.", valueName: "url")
    var facebookAPI: String?
    @Option(
        name: "google-api", help: "Where Google's tokens are checked.", valueName: "url")
    var googleAPI: String?
    @Option(help: "Also accept users' passwords by HTTP Basic, in this realm.", valueName: "realm")
    var basicRealm: String?
    @Option(help: "Give self-registered clients access tokens in URLs; true or false.", valueName: "flag")
    var unsafeFrontChannelTokens: String?
    @Option(help: "From trace to critical.", valueName: "level") var logLevel: String?
    @Option(help: "text or json.", valueName: "format") var logFormat: String?
    @Option(help: "Clients' addresses in the log: full, truncated or none.", valueName: "how")
    var logAddresses: String?

    /// The configuration of these options, the environment and the file.
    func read() throws -> SpindleConfiguration {
        try SpindleConfiguration.read(
            commandLine: named, environment: Environment.variables, file: config)
    }

    /// The options that were given, by their names in a configuration file.
    var named: [String: String] {
        let options: [(ConfigurationKey, String?)] = [
            (.listen, listen), (.issuer, issuer), (.database, database), (.masterKeyFile, masterKeyFile),
            (.adminListen, adminListen), (.tlsCertificate, tlsCertificate), (.tlsKey, tlsKey),
            (.sessionSameSite, sessionSameSite), (.trustedProxies, trustedProxies),
            (.outboundAllowPrivate, outboundAllowPrivate), (.requestTimeout, requestTimeout),
            (.idleTimeout, idleTimeout), (.maxConnections, maxConnections), (.mailFrom, mailFrom),
            (.templates, templates), (.deletionGrace, deletionGrace), (.eventRetention, eventRetention),
            (.keyRotation, keyRotation), (.terms, terms),
            (.privacy, privacy), (.apiLimit, apiLimit), (.introspectionCache, introspectionCache),
            (.basicRealm, basicRealm),
            (.unsafeFrontChannelTokens, unsafeFrontChannelTokens),
            (.facebookAPI, facebookAPI), (.googleAPI, googleAPI), (.logLevel, logLevel), (.logFormat, logFormat),
            (.logAddresses, logAddresses),
        ]
        return Dictionary(uniqueKeysWithValues: options.compactMap { key, value in value.map { (key.rawValue, $0) } })
    }
}

/// A command that works with the stores of an installation, even while a server runs on it.
protocol StoreCommand: Command {
    var options: ConfigurationOptions { get }

    func run(with stores: Stores) async throws
}

extension StoreCommand {
    func run() async throws {
        let configuration = try options.read()
        let log = StandardErrorLog(configuration)
        defer { log.flush() }
        let installation = try await Installation.open(configuration, for: .administering)
        do {
            try await run(with: try installation.stores(configuration, log.logger()))
        } catch {
            await installation.close()
            guard let fault = error as? JSONFault else { throw error }
            let place = Self.option(setting: fault.member) ?? fault.member
            throw CommandFailure("\(place): must be \(fault.expected)", .data)
        }
        await installation.close()
    }
}

/// The options of `serve` for development.
struct DevelopmentOptions: CommandArguments {
    @Flag(
        help: "For development on this machine: any user can be signed in by name. Creates what is missing, "
            + "including the client dev. Its database is never served under https afterwards.")
    var dev = false
    @Option(
        name: "dev-redirect-uri",
        help: "With --dev: a redirect URI of the client dev; may be repeated. The given ones replace those it "
            + "has; one whose path ends with /_oidc_callback is for the client sync_gateway.",
        valueName: "uri")
    var redirectURIs: [String] = []

    func validate() throws(Misuse) {
        guard dev || redirectURIs.isEmpty else { throw Misuse("--dev-redirect-uri requires --dev") }
    }

    /// Prepares `installation` for development and returns instructions. Without `--dev`, returns nil and only checks
    /// that the installation is not one for development.
    func prepare(
        _ installation: Installation, _ configuration: SpindleConfiguration, _ logger: Logger
    ) async throws -> String? {
        guard dev else {
            try await DevelopmentFlag(database: installation.database).refuse(under: configuration.issuer)
            return nil
        }
        logger.warning("development mode: any user can be signed in without a password")
        let clock = installation.clock
        try await DevelopmentFlag(database: installation.database).set(at: clock.now)
        let setup = DevelopmentSetup(
            try installation.stores(configuration, logger), configuration, masterKey: installation.masterKey,
            clock: clock)
        try await setup.prepare(redirectURIs: redirectURIs)
        return try await setup.welcome()
    }
}
