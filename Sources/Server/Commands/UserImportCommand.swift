import Authentication
import CommandLineTool
import Glibc
import JSON
import System

extension UserCommand {
    /// `spindle user import FILE`: imports users of another system, with its hashes of their passwords.
    struct Import: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import accounts, a JSON document a line. Lines that are refused are told of; the rest is taken.",
            discussion: "Running it again passes over what is there. The form of a line is in docs/guide-import.md.")
        @Argument(help: "The file; - reads the standard input.") var file: String
        @Flag(help: "Read and count as it would, and store nothing.") var dryRun = false
        @OptionGroup var output: OutputOptions
        @OptionGroup(title: "Configuration") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            var lines = try lines()
            var rejections: [UserImport.Rejection] = []
            let totals = try await UserImport(into: stores.users, isRehearsal: dryRun).run(&lines) { rejection in
                if output.json { rejections.append(rejection) } else { Terminal.tell("\(rejection)") }
            }
            output.print(
                .members([
                    "imported": .integer(Int64(totals.imported)), "rejected": .integer(Int64(totals.rejected)),
                    "skipped_existing": .integer(Int64(totals.skippedExisting)), "dry_run": .bool(dryRun),
                    "rejections": output.json ? .array(rejections.map(\.json)) : nil,
                ]))
            if totals.rejected > 0 { throw CommandFailure("\(totals.rejected) lines were rejected") }
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
