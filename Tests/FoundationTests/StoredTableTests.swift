import Keys
import Server
import Storage
import TestSupport
import Testing

/// The declarations of tables, compared to the migrated schema.
@Suite struct StoredTableTests {
    @Test("Every kind of sealed value has one declared column, so that a change of the master key finds it")
    func places() {
        let declared = StoredTable.all.flatMap(\.sealed).map(\.place)
        #expect(declared.sorted() == SealedPlace.allCases.map(\.rawValue).sorted())
    }

    @Test("Every column whose name begins with sealed_ is resealed or forgotten when the master key changes")
    func columns() async throws {
        let database = try await Backend.sqlite.open()
        for table in StoredTable.all {
            let columns = try await database.read { db in
                try db.rows("SELECT name FROM pragma_table_info(\(table.name))").map {
                    try $0.get("name", as: String.self)
                }
            }
            #expect(!columns.isEmpty, "\(table.name) is not there")
            let statements = table.sealed.map(\.rows.text) + [table.forgottenWithKey?.text ?? ""]
            for column in columns where column.hasPrefix("sealed_") {
                #expect(statements.contains { $0.contains(column) }, "\(table.name).\(column)")
            }
        }
        await database.close()
    }

    @Test("The schema deletes rows with the user, client or merchant that their table declares, and no other")
    func erasure() async throws {
        let database = try await Backend.sqlite.open()
        var parents: [String: Set<String>] = [:]
        for table in StoredTable.all {
            parents[table.name] = try await database.read { db in
                let keys = try db.rows(
                    """
                    SELECT "table" AS parent FROM pragma_foreign_key_list(\(table.name)) WHERE on_delete = 'CASCADE'
                    """)
                return Set(try keys.map { try $0.get("parent", as: String.self) })
            }
        }
        func goes(_ table: String, with owner: String) -> Bool {
            (parents[table] ?? []).contains { $0 == owner || goes($0, with: owner) }
        }
        for table in StoredTable.all {
            for (owner, erasure) in [
                ("users", table.ofUser), ("clients", table.ofClient), ("merchants", table.ofMerchant),
            ] {
                switch erasure {
                case .cascade, .withOwner, .withParent:
                    #expect(goes(table.name, with: owner), "\(table.name) with \(owner)")
                case .nothing: #expect(parents[table.name]?.contains(owner) != true, "\(table.name) of \(owner)")
                case .expiry:
                    #expect(!goes(table.name, with: owner) && !table.retention.isEmpty, "\(table.name) after \(owner)")
                case .batches, .steps: break
                }
            }
        }
        await database.close()
    }
}
