import Foundation
import TestSupport
import Testing

/// Tests/Interop/test_reference.py compares the methods of each path, and runs the examples.
@Suite("The reference lists every endpoint")
struct ReferenceTests {
    @Test("The table of endpoints in docs/api/README.md has every route of the server, and no other")
    func routes() async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            let served = try Set(world.server.routes.filter(Self.isListed))
            let listed = try Self.listed()
            #expect(served.count > 150)
            #expect(served.subtracting(listed).sorted() == [])
            #expect(listed.subtracting(served).sorted() == [])
        }
    }

    /// Not an alias that the page describes in a sentence: `/api/` for `/api/2/`, and `.json` at the end.
    private static func isListed(_ route: String) -> Bool {
        guard let path = route.split(separator: " ").last, path.hasPrefix("/api/") else { return true }
        return path.hasPrefix("/api/2/") && !path.hasSuffix(".json")
    }

    /// The methods of the first column with each path of the second and third.
    private static func listed() throws -> Set<String> {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let page = try String(contentsOf: root.appending(path: "docs/api/README.md"), encoding: .utf8)
        let routes = page.split(separator: "\n").flatMap { line -> [String] in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 7, cells[2].hasPrefix(" `/") else { return [] }
            let methods = cells[1].matches(of: /`([A-Z]+)`/).map(\.output.1)
            let paths = (cells[2] + cells[3]).matches(of: /`(\/[^`]*)`/).map(\.output.1)
            return methods.flatMap { method in paths.map { "\(method) \($0)" } }
        }
        return Set(routes)
    }
}
