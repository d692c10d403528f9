import CommandLineTool
import Cryptography
import Glibc
import Keys
import Logging
import Pages
import System
import Values

/// `spindle serve`: runs the server until SIGTERM or SIGINT.
struct ServeCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the server until SIGTERM or SIGINT.")

    @Flag(help: "Bring the schema of a PostgreSQL database up to date first; on SQLite that is always done.")
    var migrate = false
    @OptionGroup var development: DevelopmentOptions
    @OptionGroup(topic: "settings") var options: ConfigurationOptions

    func run() async throws {
        // Before a key is in memory.
        CoreDumps.forbid()
        // As in `RunningServer`, but earlier: a reload may be requested at any time.
        if isatty(STDIN_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        // Log rotation tools send these signals, and each would end the server.
        for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        let configuration = try options.read()
        if development.dev { try DevelopmentMode.check(configuration) }
        let log = StandardErrorLog(configuration)
        defer { log.flush() }
        let logger = log.logger()
        let installation = try await Installation.open(
            configuration, for: development.dev ? .initialising : .serving(migrating: migrate))
        do {
            // Keys are made before the first signature: otherwise a key would sign before clients can have fetched it.
            try await StoredSigningKeys(database: installation.database, seal: installation.seal)
                .createMissing(at: installation.clock.now)
            let welcome = try await development.prepare(installation, configuration, logger)
            let parts = Parts(
                database: installation.database, masterKey: installation.masterKey,
                hashing: HashingPool(random: installation.random),
                templates: try Templates(configuration, isDevelopment: development.dev),
                mailer: configuration.mail.mailer(from: configuration.mailFrom),
                texts: configuration.sms?.sender(logger), logger: logger,
                console: { Terminal.print($0) })
            let spindle = try Spindle.build(configuration, parts)
            try await RunningServer(
                spindle: spindle, configuration: configuration, logger: logger,
                onListening: { _ in if let welcome { Terminal.print(welcome) } }
            ).run()
        } catch {
            await installation.close()
            throw error
        }
        await installation.close()
    }
}
