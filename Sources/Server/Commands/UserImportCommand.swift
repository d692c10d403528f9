import Audit
import Authentication
import CommandLineTool
import Directory
import Federation
import Glibc
import JSON
import OAuth
import Storage
import System
import Values

extension UserCommand {
    /// `spindle user import FILE`: imports users of another system, with their password hashes.
    struct Import: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import users, one JSON document per line. Refused lines are reported; the rest is imported.",
            discussion: """
                Running it again skips addresses that exist. Users who were deleted since, or have changed their \
                address, are created again. The format of a line is in docs/guide-import.md.
                """)
        @Argument(help: "The file; - reads the standard input.") var file: String
        @Option(
            help: "A new file for the user that each line became, or was already, one JSON document per line.",
            valueName: "file")
        var map: String?
        @Flag(help: "Read and count, but store nothing.") var dryRun = false
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            var lines = try lines()
            var rejections: [UserImport.Rejection] = []
            let mapFile = try map.map { try MapFile($0) }
            let totals = try await UserImport(into: stores.users, .ofModules, isRehearsal: dryRun).run(&lines) {
                if output.json { rejections.append($0) } else { Terminal.tell("\($0)") }
            } mapping: {
                try mapFile?.write($0)
            }
            if !dryRun {
                try await stores.audit.record(
                    "user.imported", by: Actor(.command),
                    after: .members(["users": .integer(Int64(totals.imported))]))
            }
            output.print(
                .members([
                    "imported": .integer(Int64(totals.imported)), "rejected": .integer(Int64(totals.rejected)),
                    "skipped_existing": .integer(Int64(totals.skippedExisting)), "dry_run": .bool(dryRun),
                    "rejections": output.json ? .array(rejections.map(\.json)) : nil,
                ]))
            if totals.rejected > 0 { throw CommandFailure("\(totals.rejected) lines were rejected") }
        }

        func validate() throws(Misuse) {
            guard map == nil || !dryRun else {
                throw Misuse(
                    "--map cannot be used with --dry-run, which stores no "
                        + "user")
            }
        }

        private func lines() throws -> LineReader {
            let unreadable = CommandFailure("\(file.printable) cannot be read", .data)
            // It stays open until the command ends.
            let input = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
            guard input >= 0 else { throw unreadable }
            return LineReader {
                guard let piece = Files.read(from: input, atMost: LineReader.longest) else { throw unreadable }
                return piece
            }
        }
    }
}

extension UserImport.Rejection {
    fileprivate var json: JSON {
        .members(["line": .integer(Int64(line)), "reason": .string(fault.description)])
    }
}

extension ImportExtras {
    /// What modules other than Authentication keep of imported users.
    static let ofModules = ImportExtras(
        check: { users, db in
            let identities = users.flatMap(\.identities)
            let issuers = try TrustedIssuers.known(
                among: Array(Set(identities.map { TrustedIssuer.ID($0.issuer) })), in: db)
            let linked = Set(
                try IssuerSubjects.linked(identities.map(\.subject), in: db).map {
                    ImportedUser.Identity(issuer: $0.issuer.text, subject: $0.subject)
                })
            let clients = try Self.clients(of: users, in: db)
            return users.reduce(into: [:]) { faults, user in
                if !user.identities.allSatisfy({ issuers.contains(TrustedIssuer.ID($0.issuer)) }) {
                    faults[user.id] = .unknownReference("identities")
                } else if !linked.isDisjoint(with: user.identities) {
                    faults[user.id] = .taken("identities")
                } else if !user.consents.allSatisfy({ clients[$0.client] != nil }) {
                    faults[user.id] = .unknownReference("consents")
                } else if !user.consents.allSatisfy({ $0.scope.isSubset(of: clients[$0.client]?.scope ?? .empty) }) {
                    faults[user.id] = .unknownReference("consents")
                }
            }
        },
        store: { users, now, db in
            let clients = try Self.clients(of: users, in: db)
            for user in users {
                for identity in user.identities {
                    try IssuerSubjects.keep(
                        identity.subject, of: TrustedIssuer.ID(identity.issuer), for: user.id, at: now, in: db)
                }
                for consent in user.consents {
                    guard let client = clients[consent.client] else { continue }
                    try Consents.keep(consent.scope, for: client, by: user.id, at: consent.at, in: db)
                }
            }
        })

    private static func clients(
        of users: [ImportedUser], in db: any Transaction
    ) throws -> [Client.ID: Client] {
        try Clients.known(among: Array(Set(users.flatMap { $0.consents.map(\.client) })), in: db)
    }
}
