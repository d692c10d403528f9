import Testing

/// A module writes its own tables only, and reads those and the tables of modules below it.
@Suite struct TableTests {
    struct Use: Sendable, CustomTestStringConvertible {
        let file: SourceFile
        let line: Int
        let table: String
        let isWrite: Bool
        var testDescription: String { "\(file.path):\(line) \(table)" }
    }

    @Test(
        "An SQL statement writes only tables of its own module, and reads those and tables of modules below",
        arguments: uses)
    func borders(_ use: Use) throws {
        let owner = try #require(Self.owners[use.table])
        let module = use.file.module
        if use.isWrite {
            #expect(owner == module, "\(use.testDescription) is written by \(module), and belongs to \(owner)")
        } else {
            let isBelow = Self.below[module]?.contains(owner) == true
            #expect(owner == module || isBelow, "\(use.testDescription) is read by \(module), below \(owner)")
        }
    }

    @Test("Every table that the migrations create is declared once by a StoredTable, and no other table is")
    func declared() {
        var made: [String] = []
        for line in SourceTree.migrations.flatMap(\.lines) {
            if let table = line.firstMatch(of: /^CREATE TABLE (\w+)/)?.output.1 { made.append(String(table)) }
            if let table = line.firstMatch(of: /^DROP TABLE (\w+)/)?.output.1 { made.removeAll { $0 == table } }
            if let change = line.firstMatch(of: /^ALTER TABLE (\w+) RENAME TO (\w+)/)?.output {
                made = made.map { $0 == change.1 ? String(change.2) : $0 }
            }
        }
        let declared = Self.declarations.map(\.table)
        #expect(declared.count == Set(declared).count)
        #expect(made.sorted() == declared.sorted())
    }

    @Test("The search of these tests for uses of tables finds more than two hundred, writes among them")
    func found() { #expect(Self.uses.count > 200 && Self.uses.contains { $0.isWrite }) }

    /// What modules declare: `StoredTable("name", …)`.
    static let declarations: [(table: String, module: String)] = SourceTree.sources.flatMap {
        file -> [(table: String, module: String)] in
        guard file.text.mentions("StoredTable(") else { return [] }
        return file.text.matches(of: /StoredTable\(\s*"(\w+)"/).map {
            (table: String($0.output.1), module: file.module)
        }
    }

    static let owners = Dictionary(declarations.map { ($0.table, $0.module) }) { first, _ in first }

    /// The modules that each may import, from Package.swift.
    static let below: [String: Set<String>] = {
        let manifest = (try? SourceTree.file("Package.swift").text) ?? ""
        var direct: [String: Set<String>] = [:]
        for module in manifest.matches(of: /module\(\s*"(\w+)",\s*\[([^\]]*)\]/) {
            direct[String(module.output.1)] = Set(module.output.2.matches(of: /"(\w+)"/).map { String($0.output.1) })
        }
        func all(_ module: String) -> Set<String> {
            (direct[module] ?? []).reduce(into: []) { $0.formUnion(all($1).union([$1])) }
        }
        return Dictionary(uniqueKeysWithValues: direct.keys.map { ($0, all($0)) })
    }()

    static let uses: [Use] = SourceTree.sources.flatMap { file -> [Use] in
        let use = /\b(INSERT INTO|DELETE FROM|UPDATE|FROM|JOIN)\s+(\w+)/
        return file.code(with: ["INTO", "FROM", "UPDATE", "JOIN"]).flatMap { number, line in
            line.matches(of: use).compactMap { match in
                let table = String(match.output.2)
                guard owners[table] != nil else { return nil }
                return Use(file: file, line: number, table: table, isWrite: !["FROM", "JOIN"].contains(match.output.1))
            }
        }
    }
}
