import Foundation
import Testing

/// docs/security/check-await-write.md: a row a place, and the tests that change the world there.
@Suite struct RaceTableTests {
    @Test("Every row of the race table names tests, and each of them exists")
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
