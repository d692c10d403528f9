import CommandLineTool
import Cryptography
import JSON
import Keys
import Values

extension KeyCommand {
    /// `spindle key withdraw`
    struct Withdraw: Command {
        static let configuration = CommandConfiguration(
            abstract: "Take a stolen signing key out of service at once.",
            discussion: """
                It is no longer published, and another key signs in its place. A running server follows within a \
                minute; others may cache the key set for five more minutes. Until then they accept what the stolen \
                key signed, and may refuse what the new one signs. Afterwards no application accepts what the stolen \
                key signed, and users must sign in there again. This server checks its own access tokens against its \
                records, so JWTs that it really issued stay valid here, also at introspection; forged ones never were.
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
