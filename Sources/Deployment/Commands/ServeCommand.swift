import ArgumentParser
import Cryptography
import Logging
import Pages
import Values

/// `spindle serve`: the server, until SIGTERM or SIGINT.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the server until SIGTERM or SIGINT.")

    @Flag(help: "Bring the schema of a PostgreSQL database up to date first; on SQLite that is always done.")
    var migrate = false
    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.read()
        LoggingSystem.bootstrap { label in
            StandardErrorLog(
                label: label, level: configuration.logLevel, format: configuration.logFormat, clock: SystemClock())
        }
        let logger = Logger(label: "spindle")
        let installation = try await Installation.open(configuration, for: .serving(migrating: migrate))
        do {
            let parts = Parts(
                database: installation.database, masterKey: installation.masterKey,
                hashing: try HashingPool(random: installation.random), templates: try Templates(configuration),
                mailer: configuration.mail.mailer(from: configuration.mailFrom), logger: logger)
            let spindle = try Spindle.build(configuration, parts)
            try await Server(spindle: spindle, configuration: configuration, logger: logger).run()
        } catch {
            await installation.close()
            throw error
        }
        await installation.close()
    }
}
