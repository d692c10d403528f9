import CommandLineTool
import Cryptography
import Directory
import JSON
import Keys
import OAuth
import Storage
import Values

extension KeyCommand {
    /// `spindle key rotate`
    struct Rotate: Command {
        static let configuration = CommandConfiguration(
            abstract: "Make the next signing key of each algorithm in use, ahead of its time.",
            discussion: """
                It is published at once and signs ten minutes later, when every cache has it. Signatures of the old \
                key stay valid until they expire. If a next key exists already, it signs then. The server also \
                rotates by itself, as the setting key_rotation says. If a key was stolen: spindle key withdraw.
                """)
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run() async throws {
            let installation = try await Installation.open(try options.read(), for: .administering)
            let made: [SigningKey]
            do {
                made = try await rotate(installation)
            } catch {
                await installation.close()
                throw error
            }
            await installation.close()
            if made.isEmpty {
                Terminal.tell("Each algorithm has a next key that signs within ten minutes; nothing was changed.")
            }
            let items = made.map { key in
                JSON.members([
                    "id": .string(key.id), "algorithm": .string(key.algorithm.rawValue),
                    "signs_from": .integer(key.signsFrom.seconds),
                ])
            }
            output.print(Page(items: items, next: nil), columns: ["id", "algorithm", "signs_from"])
        }

        private func rotate(_ installation: Installation) async throws -> [SigningKey] {
            let now = installation.clock.now
            let keys = StoredSigningKeys(database: installation.database, seal: installation.seal)
            // This command deletes nothing, so no events need to be published.
            let clients = Clients(
                database: installation.database, clock: installation.clock, random: installation.random,
                seal: installation.seal, known: KnownClients(clock: installation.clock),
                erasure: BulkErasure(database: installation.database, tables: StoredTable.all),
                sessions: Sessions(
                    database: installation.database, clock: installation.clock,
                    events: UserEvents([], random: installation.random)))
            let present = Set(try await keys.all().map(\.algorithm))
            guard !present.isEmpty else { throw CommandFailure("there are no signing keys: run `spindle init`") }
            let algorithms = present.intersection(try await clients.algorithmsInUse())
            var made: [SigningKey] = []
            for algorithm in algorithms.sorted(by: { $0.rawValue < $1.rawValue }) {
                if let key = try await keys.hasten(algorithm, signsFrom: now + KeyRing.shortestLead, at: now) {
                    made.append(key)
                }
            }
            return made
        }
    }
}
