import Authentication
import CommandLineTool
import Glibc
import JSON
import System

extension UserCommand {
    /// `spindle user import FILE`: imports users of another system, with their password hashes.
    struct Import: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import accounts, a JSON document a line. Lines that are refused are told of; the rest is taken.",
            discussion: """
                Running it again passes over the addresses that are there. Who has deleted the account since, or has \
                another address by now, is made anew. The form of a line is in docs/guide-import.md.
                """)
        @Argument(help: "The file; - reads the standard input.") var file: String
        @Option(
            help: "A new file: which user each line became, or stands for, a JSON document a line.", valueName: "file")
        var map: String?
        @Flag(help: "Read and count as it would, and store nothing.") var dryRun = false
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            var lines = try lines()
            var rejections: [UserImport.Rejection] = []
            let mapFile = try map.map { try MapFile($0) }
            let totals = try await UserImport(into: stores.users, .ofModules, isRehearsal: dryRun).run(&lines) {
                if output.json { rejections.append($0) } else { Terminal.tell("\($0)") }
            } mapping: {
                try mapFile?.write($0)
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
            guard map == nil || !dryRun else { throw Misuse("--map is not for --dry-run, which stores nobody") }
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
