import Cryptography
import Migrations
import Storage
import TestSupport
import Testing
import Values

@testable import Server

@Suite("Doctor and the clocks of several nodes")
struct ClockDiagnosisTests: ConfigurationStory {
    @Test(
        "Doctor reports a clock that differs from the database server's by seconds",
        arguments: Backend.available.filter { $0 == .postgresql }, [0, 3, -3, 300])
    func apart(backend: Backend, seconds: Int64) async throws {
        let address = try await backend.freshAddress()
        let database = try await Backend.open(address)
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 0)
        let now = SystemClock().now + .seconds(seconds)
        let diagnosis = DatabaseDiagnosis(
            database: database,
            configuration: try read([:], ["SPINDLE_DATABASE": address, "SPINDLE_MASTER_KEY": inlineKey]),
            clock: ManualClock(now), random: SystemRandom())
        let told = await diagnosis.serverFindings().filter { $0.subject == "clock" }
        #expect(told.isEmpty == (seconds == 0), "\(told)")
        if let told = told.first { #expect(told.detail.contains(seconds > 0 ? "ahead of" : "behind")) }
        await database.close()
    }
}
