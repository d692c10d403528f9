import CommandLineTool
import JSON
import StorageSQLite
import System

/// `spindle backup FILE`: a consistent copy while the server runs. It does not contain the master key.
struct BackupCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the database to FILE while the server runs. The master key is not in it."
    )

    @Argument(help: "Where the copy goes; the file must not exist.") var file: String
    @OptionGroup var output: OutputOptions
    @OptionGroup(topic: "settings") var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.read()
        guard case .sqlite(let path) = configuration.database else {
            throw CommandFailure("a PostgreSQL database is backed up by its own tools: use pg_dump", .usage)
        }
        guard configuration.database.exists, try !configuration.database.isFileWithoutSchema else {
            throw InstallationError.uninitialised(path)
        }
        guard !Files.exists(file) else {
            throw CommandFailure("\(file) exists already", .cannotCreate)
        }
        // Under another name until it is complete: half a backup must not look like a whole one.
        try await SQLiteFile.withTemporary("unfinished", beside: file) { unfinished in
            let database = try await SQLiteDatabase.open(path: path)
            do {
                try await database.copy(to: unfinished)
            } catch {
                await database.close()
                throw error
            }
            await database.close()
            try SQLiteFile.publish(unfinished, as: file)
        }
        if output.json {
            Terminal.print(json: .members(["backup": .string(file)]))
        } else {
            Terminal.print(
                "copied \(path) to \(file). It is useless without the master key, which it does not "
                    + "contain.")
        }
    }
}
