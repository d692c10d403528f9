import Foundation
import Keys
import Migrations
@testable import Server
import Storage
import StorageSQLite
import TestSupport
import Testing
import Values

@Suite struct InterruptedInitTests {
    @Test(
        "The command init completes a database whose creation was interrupted after any step of the schema",
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

    @Test(
        "The command init migrates a complete SQLite file, but not a PostgreSQL database others may use",
        arguments: Backend.available)
    func complete(backend: Backend) async throws {
        let address = try await backend.freshAddress()
        let database = try await Backend.open(address)
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 0)
        let text = Data(repeating: 7, count: 32).base64EncodedString()
        let key = try MasterKey(base64: text)
        try await database.write { db in try MasterKeyCheck(key).store(in: db) }
        await database.close()

        let configuration = try SpindleConfiguration.read(
            commandLine: [:], environment: ["SPINDLE_DATABASE": address, "SPINDLE_MASTER_KEY": text], file: nil)
        do {
            let next = Migration(
                version: Migration.all.count + 1, name: "next", script: "CREATE TABLE next (id TEXT PRIMARY KEY);\n")
            let installation = try await Installation.open(
                configuration, for: .initialising, steps: Migration.all + [next])
            await installation.close()
            #expect(backend == .sqlite)
        } catch InstallationError.behind(let steps) {
            #expect(backend == .postgresql && steps.count == 1)
        }
    }
}
