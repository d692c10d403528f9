import Foundation
import Testing

/// What the pages say about the code, as far as a machine can see that it is true.
@Suite struct DocumentationTests {
    struct Quote: Sendable, CustomTestStringConvertible {
        let page: String
        let path: String
        let line: Int
        let code: String
        var testDescription: String { "\(page): \(path):\(line)" }
    }

    /// The pages that quote code, each with how many quotes it has at least.
    private static let quoting = [("docs/architecture.md", 20), ("docs/threat-model.md", 100)]

    @Test("Code quoted by a documentation page is on the source line that the page names", arguments: try quotes())
    func quoted(_ quote: Quote) throws {
        let lines = try SourceTree.file(quote.path).lines
        let found = zip(1..., lines).filter { $0.1.contains(quote.code) }.map(\.0)
        #expect(found.contains(quote.line), "\(quote.path): `\(quote.code)` is at \(found): run Tests/renumber")
    }

    @Test(
        "docs/architecture.md quotes at least 20 lines of code, and docs/threat-model.md at least 100",
        arguments: quoting)
    func enough(_ page: String, _ least: Int) throws {
        #expect(try Self.quotes().count { $0.page == page } >= least)
    }

    /// The rows `| rule | `path:line` | `code on that line` |`.
    private static func quotes() throws -> [Quote] {
        let row = /\|[^|]*\| `([^`:]+):(\d+)` \| `([^`]+)` \|/
        return try quoting.flatMap { page, _ in
            try SourceTree.file(page).lines.compactMap { line in
                guard let match = line.wholeMatch(of: row), let number = Int(match.output.2) else { return nil }
                return Quote(
                    page: page, path: String(match.output.1), line: number, code: String(match.output.3))
            }
        }
    }

    @Test("Every file or folder that a documentation page names exists", arguments: SourceTree.documents)
    func files(_ page: SourceFile) {
        for (number, line) in zip(1..., page.lines) {
            for match in line.matches(of: /`((?:Sources|Tests|migrations|deploy|docs)\/[A-Za-z0-9_+\/.-]*)/) {
                #expect(SourceTree.exists(String(match.output.1)), "\(page.path):\(number) names \(match.output.1)")
            }
            for match in line.matches(of: /`((?:OAuth|TokenAPI|HTTPSupport|StorageSQLite)\/[\w+\/]+\.swift)`/) {
                let path = "Sources/\(match.output.1)"
                #expect(SourceTree.exists(path), "\(page.path):\(number) names \(path)")
            }
        }
    }

    @Test("Every setting is in docs/configuration.md and in deploy/spindle.example.yaml")
    func settings() throws {
        let page = try SourceTree.file("docs/configuration.md").text
        let example = try SourceTree.file("deploy/spindle.example.yaml").text
        let names = try SourceTree.file("Sources/Server/Configuration/ConfigurationKey.swift").lines
            .filter { $0.hasPrefix("    case ") }
            .flatMap { line in line.dropFirst("    case ".count).split(separator: ", ") }
            .compactMap { $0.split(separator: "\"").last.map(String.init) }
        #expect(names.count >= 16)
        for name in names {
            #expect(page.contains("`SPINDLE_\(name.uppercased())`"), "docs/configuration.md lacks \(name)")
            #expect(example.contains("\n# \(name):") || example.contains("\n\(name):"), "the example lacks \(name)")
        }
    }

    @Test("The map in docs/architecture.md lists every module of Sources, and nothing else")
    func map() throws {
        let page = try SourceTree.file("docs/architecture.md").text
        let map =
            page.components(separatedBy: "## The map of Sources").last?.components(separatedBy: "\n## ").first ?? ""
        for module in Set(SourceTree.sources.map(\.module)) {
            #expect(map.contains("| `\(module)` |"), "the map does not say what \(module) is")
        }
        let rows = map.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let named = rows.compactMap { $0.split(separator: "|").first }
            .flatMap { cell in cell.matches(of: /`(\w+)`/).map { String($0.output.1) } }
        #expect(Set(named) == Set(SourceTree.modules), "the map and Sources differ")
    }

    @Test(
        "The tables in docs/performance.md are those that Tests/Benchmarks/run last wrote",
        arguments: [("latest", "measured"), ("postgresql", "measured on PostgreSQL")])
    func measured(_ name: String, _ mark: String) throws {
        let table = try SourceTree.file("Tests/Benchmarks/results/\(name).md").text
        let page = try SourceTree.file("docs/performance.md").text
        #expect(page.contains("<!-- \(mark) -->\n\(table)<!-- /\(mark) -->\n"), "Tests/Benchmarks/run --document")
    }

    @Test("Every row of the race table in docs/security/check-await-write.md names tests that exist")
    func tests() throws {
        let rows = try SourceTree.file("docs/security/check-await-write.md").lines
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| Where |") }
        #expect(rows.count >= 20)
        for row in rows {
            let cells = row.split(separator: "|")
            let names = cells.last?.matches(of: /`(\w+)\.(\w+|\*)`/) ?? []
            #expect(!names.isEmpty, "no test: \(row)")
            for name in names {
                let (suite, function) = (name.output.1, name.output.2)
                let file = SourceTree.swiftFiles.first { $0.path.hasSuffix("/\(suite).swift") }
                let isThere = function == "*" ? file != nil : file?.text.contains("func \(function)(") == true
                #expect(isThere, "\(suite).\(function) is not there")
            }
        }
    }
}
