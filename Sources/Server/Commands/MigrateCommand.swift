import CommandLineTool
import Migrations
import Storage
import Values

/// `spindle migrate`: brings the schema up to date, or says whether it is up to date.
struct MigrateCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Bring the schema up to date.")

    @Flag(help: "Change nothing; exit with 1 if there is something to do.") var check = false
    @OptionGroup(topic: "settings") var options: ConfigurationOptions

    func run() async throws {
        let location = try options.read().database
        guard location.exists, try !location.isFileWithoutSchema else {
            guard check else { throw InstallationError.uninitialised(location.description) }
            throw CommandFailure(describe(.empty, location))
        }
        let database = try await location.open()
        do {
            try await work(on: database, at: location)
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    private func work(on database: any Database, at location: DatabaseLocation) async throws {
        let migrator = Migrator(database: database, migrations: Migration.all)
        let state = try await migrator.state()
        switch state {
        case .newer(let step): throw InstallationError.newer(step)
        case .altered(let step): throw InstallationError.altered(step)
        case .current: Terminal.print(describe(state, location))
        case .empty, .behind:
            guard !check else { throw CommandFailure(describe(state, location)) }
            // A file without tables is more likely a wrong path.
            if state == .empty, location.isFile { throw InstallationError.uninitialised(location.description) }
            if state == .empty { try await location.refuseForeignTables(of: database) }
            let done = try await migrator.migrate(at: SystemClock().now.milliseconds)
            Terminal.print("\(location): applied schema step \(done.map(String.init).joined(separator: ", "))")
        }
    }

    private func describe(_ state: Migrator.State, _ location: DatabaseLocation) -> String {
        switch state {
        case .behind(let steps):
            "\(location) lacks schema step \(steps.map(String.init).joined(separator: ", "))"
        case .empty: "\(location) has no schema yet"
        default: "\(location) is up to date"
        }
    }
}
