import Storage
import StoragePostgreSQL
import TestSupport
import Testing

@Suite("Detecting whether changes can be stored")
struct RoomTests {
    @Test("The check for disk space makes a trial change only after a refused change, until a trial succeeds")
    func doubt() async throws {
        let (doubt, trials) = (WriteDoubt(), Ledger<Int>())
        struct Full: Error {}
        try await doubt.settle { trials.note(0) }
        #expect(trials.entries.isEmpty)
        doubt.raise()
        for number in 1...2 {
            await #expect(throws: Full.self) {
                try await doubt.settle {
                    trials.note(number)
                    throw Full()
                }
            }
        }
        try await doubt.settle { trials.note(3) }
        try await doubt.settle { trials.note(4) }
        #expect(trials.entries == [1, 2, 3])
    }

    @Test("A change that is refused during a trial change makes another trial change necessary")
    func race() async throws {
        let (doubt, trials) = (WriteDoubt(), Ledger<Int>())
        doubt.raise()
        try await doubt.settle { doubt.raise() }
        try await doubt.settle { trials.note(1) }
        #expect(trials.entries == [1])
    }

    /// PostgreSQL's error when a file cannot grow.
    private static let full =
        "BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END"

    @Test(
        "After PostgreSQL reported a full disk, changes count as impossible until a trial finds room again",
        .enabled(if: PostgreSQLCluster.isAvailable))
    func postgreSQL() async throws {
        let database = try await Backend.postgresql.openThings()
        for script in [
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ \(Self.full) $$",
            "CREATE FUNCTION full_disk_of_tables() RETURNS event_trigger LANGUAGE plpgsql AS $$ \(Self.full) $$",
            "CREATE TRIGGER full_disk BEFORE INSERT ON things EXECUTE FUNCTION full_disk()",
            Self.fillingUp,
        ] {
            try await database.run(SQL(script: script))
        }
        try await database.confirmRoom()

        let refused = await #expect(throws: StorageError.self) {
            try await database.run("INSERT INTO things (id) VALUES (\(1))")
        }
        #expect(refused == .unavailable("53100 could not extend file: No space left on device"))
        for _ in 1...2 { await #expect(throws: StorageError.self) { try await database.confirmRoom() } }
        // Changes that need no room succeed, and prove nothing.
        try await database.run("UPDATE things SET number = 1 WHERE id = \(1)")
        await #expect(throws: StorageError.self) { try await database.confirmRoom() }

        try await database.run(SQL(script: "DROP EVENT TRIGGER full_disk"))
        try await database.confirmRoom()
        #expect(try await database.countThings() == 0)
        try await database.run(SQL(script: Self.fillingUp))
        try await database.confirmRoom()
        await database.close()
    }

    private static let fillingUp = """
        CREATE EVENT TRIGGER full_disk ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
        EXECUTE FUNCTION full_disk_of_tables()
        """
}
