public import ArgumentParser
import Foundation

/// The program: `spindle COMMAND`.
public struct SpindleCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "spindle",
        abstract: "An OAuth 2.0 server for apps, their backends and the people who use them.",
        version: Spindle.version,
        subcommands: [
            InitCommand.self, ServeCommand.self, MigrateCommand.self, MerchantCommand.self, ClientCommand.self,
            UserCommand.self, KeyCommand.self, DoctorCommand.self, BackupCommand.self, RestoreCommand.self,
        ])

    public init() {}

    /// Runs the command that the process was started with, and ends the process if it fails.
    public static func main() async {
        // Databases, backups and keys are for the account that runs the server alone.
        umask(0o077)
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            guard let failure = CommandFailure(error) else { exit(withError: error) }
            failure.end()
        }
    }
}
