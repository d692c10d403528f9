import Foundation
import Migrations
@testable import Server
import Storage
import StorageSQLite
import Testing
import Values

@Suite struct InterruptedInitTests {
    @Test(
        "init completes a database whose creation was interrupted after any step of the schema",
        arguments: 0...Migration.all.count)
    func interrupted(steps: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "spindle.db").path
        let database = try await SQLiteDatabase.open(path: path)
        try await Migrator(database: database, migrations: Array(Migration.all.prefix(steps))).migrate(at: 0)
        await database.close()

        let configuration = try SpindleConfiguration.read(
            commandLine: [:], environment: ["SPINDLE_DATABASE": path], file: nil)
        let installation = try await Installation.open(configuration, for: .initialising)
        await installation.database.close()
        let again = try await Installation.open(configuration, for: .administering)
        await again.database.close()
    }
}
