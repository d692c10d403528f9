import Foundation
import Testing

/// The portable subset (docs/portable-sql.md), as far as it can be checked without an engine.
@Suite struct StatementTests {
    struct Statement: Sendable, CustomTestStringConvertible {
        let place: String
        let text: String
        var testDescription: String { place }
    }

    /// Words that one engine does not know, or reads differently.
    static let foreign = [
        "now\\(", "current_timestamp", "strftime", "like", "ilike", "glob", "boolean", "true", "false", "autoincrement",
        "serial", "blob", "bytea", "json", "jsonb", "integer", "insert or", "replace into", "nulls first", "rowid",
        "lock table",
    ]

    /// Given to PostgreSQL alone, where a database is opened.
    static let ofOneEngine = ["Sources/Server/Configuration/DatabaseLocation.swift: LOCK TABLE"]

    @Test("Every SQL statement stays within the subset that SQLite and PostgreSQL share", arguments: statements)
    func subset(_ statement: Statement) throws {
        guard !Self.ofOneEngine.contains(where: { statement.place.hasPrefix($0) }) else { return }
        let text = statement.text.lowercased()
        for word in Self.foreign where text.mentions(word.filter { $0 != "\\" }) {
            #expect(try text.firstMatch(of: Regex("\\b\(word)")) == nil, "\(statement.place) says \(word)")
        }
        #expect(!text.mentions("select *"), "\(statement.place) names no columns")
        #expect(!text.mentions("::"), "\(statement.place) casts as PostgreSQL does: CAST(… AS …) is for both")
    }

    @Test("The search of these tests for SQL finds whole statements and fragments, and skips comments")
    func found() {
        #expect(Self.statements.count > 300)
        let fragments = """
            let isOwn: SQL = "f.id IN (\\(list: ids))"
            // "NOT a fragment": a comment
            let words = mine.map { "AND c.name LIKE \\(named("\\($0)%"))" } ?? "nor this"
            """
        let file = SourceFile(path: "Sources/Example/Example.swift", text: fragments)
        #expect(Self.literals(of: file).map(\.text) == ["f.id IN ($)", "AND c.name LIKE $"])
    }

    @Test("Each migration is numbered in order, embedded by Package.swift and listed in Migration+all.swift")
    func migrations() throws {
        let manifest = try SourceTree.file("Package.swift").text
        let list = try SourceTree.file("migrations/Migration+all.swift").text
        #expect(!SourceTree.migrations.isEmpty)
        for (number, file) in zip(1..., SourceTree.migrations) {
            let name = String(file.path.dropFirst("migrations/".count))
            #expect(name.hasPrefix("v\(String(repeating: "0", count: 3 - "\(number)".count))\(number)_"))
            #expect(manifest.contains("\"\(name)\""), "Package.swift does not embed \(name)")
            #expect(list.contains("version: \(number),"), "Migration+all.swift does not list version \(number)")
            let resource = "PackageResources." + name.replacing(".", with: "_")
            #expect(list.contains(resource), "Migration+all.swift does not read \(resource)")
        }
    }

    /// The statements of the migrations, and every string literal of the sources that is one, or a fragment of one. The
    /// drivers may speak their engine's own language.
    static let statements: [Statement] =
        SourceTree.migrations.map { file in
            let code = file.code.map { $0.line.prefix { $0 != "-" } }.joined(separator: "\n")
            // The migrator drops these words for the engine that has no row ids.
            return Statement(place: file.path, text: code.replacing("WITHOUT ROWID", with: ""))
        }
        + SourceTree.sources.filter { !["StorageSQLite", "StoragePostgreSQL"].contains($0.module) }.flatMap(literals)

    /// In capitals, as statements and conditions are written and prose is not.
    private static let words = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "WITH", "FROM", "WHERE", "JOIN", "AND", "OR",
        "NOT", "EXISTS", "IN", "IS", "NULL", "CASE", "WHEN", "LIKE", "GLOB", "COALESCE", "REPLACE", "CAST", "ORDER",
        "LIMIT",
    ]

    private static func literals(of file: SourceFile) -> [Statement] {
        // Between three quotation marks on several lines, or between one on one.
        let blocks = file.text.split(separator: "\"\"\"", omittingEmptySubsequences: false)
        let long = blocks.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        let lines = blocks.enumerated().filter { $0.offset % 2 == 0 }.flatMap { $0.element.split(separator: "\n") }
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
        let literal = /"((?:[^"\\]|\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\\[^(])*)"/
        let short = lines.filter { $0.mentions(anyOf: words) }
            .flatMap { line in line.matches(of: literal).map(\.output.1) }
        // An interpolated value is bound, and no part of the statement.
        let value = /\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/
        return (long + short).filter { $0.mentions(anyOf: words) }
            .map { $0.replacing(value, with: "$").trimmingCharacters(in: .whitespacesAndNewlines) }
            .filter { text in
                let parts = text.utf8.split {
                    !($0 == UInt8(ascii: "_") || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0)
                }
                return parts.contains { words.contains(String(decoding: $0, as: UTF8.self)) }
            }
            .map { Statement(place: "\(file.path): \($0.prefix(50))", text: $0) }
    }
}
