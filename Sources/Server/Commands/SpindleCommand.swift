public import CommandLineTool
import Cryptography
import Glibc
import System

/// The program: `spindle COMMAND`.
public struct SpindleCommand: CommandGroup {
    public static let configuration = CommandConfiguration(
        commandName: "spindle",
        abstract: "An OAuth 2.0 server for apps, their backends and their users.",
        version: Spindle.version,
        subcommands: [
            InitCommand.self, ServeCommand.self, MigrateCommand.self, MerchantCommand.self, ClientCommand.self,
            UserCommand.self, KeyCommand.self, EventCommand.self, DoctorCommand.self, BackupCommand.self,
            RestoreCommand.self, VersionCommand.self,
        ],
        topics: [
            HelpTopic(
                "settings", "The settings of the server, which every command takes.", options: ConfigurationOptions.self
            ),
            HelpTopic("client-settings", "All settings of a client.", text: { ClientSettingOptions.help }),
        ])

    public init() {}

    /// `spindle version`
    struct VersionCommand: Command {
        static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the version.")

        func run() async throws { Terminal.print(Spindle.version) }
    }

    /// Runs the command that the process was started with, and ends the process if it fails.
    public static func main() async {
        Terminal.fillClosedStreams()
        Environment.forbidKeyLog()
        // Before any system library starts OpenSSL itself: it must not be freed at exit under running threads.
        OpenSSL.start()
        // At a file size limit (`ulimit -f`), a write then fails as on a full disk.
        signal(SIGXFSZ, SIG_IGN)
        // Databases, backups and keys are readable only by the system user that runs the server.
        umask(0o077)
        do {
            try await command(for: Array(CommandLine.arguments.dropFirst())).run()
        } catch let end as CommandExit {
            if end.status == 0 { Terminal.print(end.text) } else { Terminal.tell(end.text) }
            exit(end.status)
        } catch {
            guard let failure = CommandFailure(error) else {
                Terminal.tell("Error: \(error)")
                exit(CommandFailure.Status.failed.rawValue)
            }
            failure.end()
        }
    }
}
