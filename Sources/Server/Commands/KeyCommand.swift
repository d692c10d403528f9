import Administration
import CommandLineTool
import Cryptography
import Directory
import JOSE
import JSON
import Keys
import OAuth
import Storage
import System
import Values

/// `spindle key …`
struct KeyCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Signing keys, and the master key that seals them.",
        subcommands: [List.self, Rotate.self, Withdraw.self, Reseal.self])

    struct List: Command {
        static let configuration = CommandConfiguration(
            abstract: "List the signing keys; with --json also their public halves.")
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run() async throws {
            let installation = try await Installation.open(try options.read(), for: .administering)
            let keys = StoredSigningKeys(database: installation.database, seal: installation.seal)
            let found: [SigningKey]
            do {
                found = try await keys.all()
            } catch {
                await installation.close()
                throw error
            }
            await installation.close()
            let items = found.map { key in
                JSON.members([
                    "id": .string(key.id), "algorithm": .string(key.algorithm.rawValue),
                    "created_at": .integer(key.createdAt.seconds), "signs_from": .integer(key.signsFrom.seconds),
                    "public_key": key.publicKey.json,
                ])
            }
            output.print(Page(items: items, next: nil), columns: ["id", "algorithm", "created_at", "signs_from"])
        }
    }

    struct Reseal: Command {
        static let configuration = CommandConfiguration(
            abstract: "Reseal every stored secret under another master key. Stop every server first.",
            discussion: """
                On SQLite a running server is detected. On PostgreSQL a server that still runs with the old key stops \
                being ready (/readyz): it cannot open what was resealed, and stores no secret. Restart it.
                """)
        @Option(help: "The file of the new master key; created if missing.") var newKeyFile: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run() async throws {
            let configuration = try options.read()
            try SQLiteFile.refuseWhileOpen(configuration.database)
            let installation = try await Installation.open(configuration, for: .administering)
            let count: Int
            do {
                let new = try await newKey(installation, ownedLike: configuration.fileOfService)
                count = try await Resealing(
                    from: installation.masterKey, to: new, StoredTable.all, random: installation.random
                )
                .run(on: installation.database)
            } catch {
                await installation.close()
                throw error
            }
            await installation.close()
            if output.json {
                Terminal.print(
                    json: .members(["resealed": .integer(Int64(count)), "master_key_file": .string(newKeyFile)]))
            } else {
                Terminal.print(
                    """
                    resealed \(count) secrets. From now on the master key is the one in \(newKeyFile):
                    set SPINDLE_MASTER_KEY_FILE for every server, start them, and destroy the old key when no backup
                    needs it any more.
                    """)
            }
        }

        private func newKey(_ installation: Installation, ownedLike model: String?) async throws -> MasterKey {
            let file = MasterKeyFile(path: newKeyFile)
            // Root uses files that belong to the service.
            guard !Files.isOfUnrelatedUser(newKeyFile, home: Files.folder(of: model ?? newKeyFile)) else {
                throw InstallationError.planted(newKeyFile)
            }
            if let key = try present(file) {
                // Rekeying with the key in use would destroy it for a user who believes it is another one.
                guard try await MasterKeyCheck(key).verify(installation.database, StoredTable.all) != .right else {
                    throw CommandFailure("\(newKeyFile) contains the current master key: nothing was changed", .usage)
                }
                guard !Files.isOpenToOthers(newKeyFile) else {
                    throw CommandFailure(
                        "other users of this machine may read or change \(newKeyFile): use one of mode 600 that was "
                            + "never "
                            + "open to them, or a path without a file", .configuration)
                }
                return key
            }
            let key = MasterKey.random(from: installation.random)
            try file.create(key, ownedLike: model)
            return key
        }

        private func present(_ file: MasterKeyFile) throws -> MasterKey? {
            do {
                return try file.read()
            } catch {
                guard error == .malformed else { throw error }
                throw CommandFailure("--new-key-file: must hold the base64 of 32 bytes", .configuration)
            }
        }
    }
}

extension SpindleConfiguration {
    /// A file that belongs to the user that the server runs as.
    fileprivate var fileOfService: String? {
        if let path = masterKey.path, Files.exists(path) { return path }
        guard case .sqlite(let path) = database else { return nil }
        return path
    }
}

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
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

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
            let keys = KeyAdministration(installation)
            guard try await !keys.list().isEmpty else {
                throw CommandFailure("there are no signing keys: run `spindle init`")
            }
            return try await keys.rotate(by: .commandLine)
        }
    }
}

extension KeyAdministration {
    fileprivate init(_ installation: Installation) {
        // The commands delete nothing, so no events of users need to be published.
        let clients = Clients(
            database: installation.database, clock: installation.clock, random: installation.random,
            seal: installation.seal, known: KnownClients(clock: installation.clock),
            erasure: BulkErasure(database: installation.database, tables: StoredTable.all),
            sessions: Sessions(
                database: installation.database, clock: installation.clock,
                events: UserEvents([], random: installation.random)))
        self.init(
            keys: StoredSigningKeys(database: installation.database, seal: installation.seal), clients: clients,
            clock: installation.clock, random: installation.random)
    }
}

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
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run() async throws {
            let installation = try await Installation.open(try options.read(), for: .administering)
            let current: SigningKey?
            do {
                current = try await KeyAdministration(installation).withdraw(id, by: .commandLine)
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
