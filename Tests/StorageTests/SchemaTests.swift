import Migrations
import Storage
import TestSupport
import Testing

@Suite("The schema") struct SchemaTests {
    @Test("Deleting a parent row scans no child table: every foreign key has an index")
    func foreignKeys() async throws {
        let database = try await Backend.sqlite.open()
        let plans = try await database.read { db in
            let keys = try db.rows(
                """
                SELECT t.name AS child, k."from" AS child_column FROM sqlite_schema t
                JOIN pragma_foreign_key_list(t.name) k WHERE t.type = 'table'
                """)
            return try keys.map { key in
                // What SQLite runs for each parent row that goes (sqlite.org/foreignkeys.html, section 3).
                let child = try key.get("child", as: String.self)
                let column = try key.get("child_column", as: String.self)
                let plan = try db.rows(
                    SQL(script: "EXPLAIN QUERY PLAN SELECT 1 FROM \(child) WHERE \(column) = 'x'"))
                return (place: "\(child).\(column)", steps: try plan.map { try $0.get("detail", as: String.self) })
            }
        }
        #expect(plans.count > 10)
        for plan in plans {
            #expect(plan.steps.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan.place): \(plan.steps)")
        }
        await database.close()
    }
}
