import CommandLineTool
import JSON
import System

extension MerchantCommand {
    /// The members of a merchant on the command line.
    struct Members: CommandArguments {
        @Option(help: "Its name.") var name: String?
        @Flag(deniable: "Whether a device's logout also ends the tokens that backends got from it.")
        var logoutReachesBackends: Bool?
        @Flag(deniable: "Whether it is the platform's own: its clients need no introduction to users.")
        var skipIntroduction: Bool?
        @Option(help: "The https URL of a logo that its pages show; \"\" for none.") var logoURI: String?
        @Option(help: "The colour of its pages, as #rrggbb; \"\" for ours.") var accentColor: String?

        @Option(help: "A JSON file with its own texts for mails, replacing those it has; \"\" for ours.")
        var mailTemplates: String?

        func json() throws -> JSON {
            .members([
                "name": name.map { .string($0) }, "logout_reaches_backends": logoutReachesBackends.map { .bool($0) },
                "skip_introduction": skipIntroduction.map { .bool($0) },
                "logo_uri": logoURI.map(Self.textOrNothing), "accent_color": accentColor.map(Self.textOrNothing),
                "mail_templates": try mailTemplates.map(Self.documentOrNothing),
            ])
        }

        private static func textOrNothing(_ text: String) -> JSON { text.isEmpty ? .null : .string(text) }

        private static func documentOrNothing(_ file: String) throws -> JSON {
            guard !file.isEmpty else { return .null }
            guard let bytes = Files.read(file) else { throw CommandFailure("\(file.printable) cannot be read", .data) }
            do {
                return try JSON(parsing: bytes)
            } catch {
                throw CommandFailure("\(file.printable) is not JSON: \(error)", .data)
            }
        }
    }
}
