import CommandLineTool
import Cryptography
import JSON
import Keys
import Values

extension KeyCommand {
    /// `spindle key withdraw`
    struct Withdraw: Command {
        static let configuration = CommandConfiguration(
            abstract: "Take a signing key out of service at once, because it is stolen.",
            discussion: """
                It is published no more, and another signs in its place from now on. A running server follows within a \
                minute; others may keep the key set for five more. Until they read it anew they take what the stolen \
                key signed, and may refuse what the new one signs. After that no application takes what the key \
                signed before: people sign in there again. This server takes its own access tokens by its records, \
                so JWTs that it really issued stay good here, at introspection too; a forged one never was.
                """)
        @Argument(help: "The key's id, as key list shows it: the kid of what it signed.") var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run() async throws {
            let installation = try await Installation.open(try options.read(), for: .administering)
            let current: SigningKey?
            do {
                current = try await StoredSigningKeys(database: installation.database, seal: installation.seal)
                    .withdraw(id, at: installation.clock.now)
            } catch {
                await installation.close()
                throw error
            }
            await installation.close()
            guard let current else { throw CommandFailure.notFound("signing key", id) }
            output.print(
                .members([
                    "withdrawn": .string(id), "algorithm": .string(current.algorithm.rawValue),
                    "signs_now": .string(current.id),
                ]))
        }
    }
}
