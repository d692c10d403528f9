import Authentication
import CommandLineTool
import Glibc
import JSON
import System

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
