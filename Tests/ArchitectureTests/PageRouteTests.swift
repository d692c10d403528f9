import Testing

@Suite struct PageRouteTests {
    private static let pages = SourceTree.sources.filter { $0.module == "BrowserPages" }

    @Test("Every address that takes a form by POST also answers GET with a page", arguments: pages)
    func forms(_ file: SourceFile) {
        func addresses(_ method: String) -> Set<String> {
            Set(
                file.code.compactMap { code in
                    code.line.firstRange(of: "router.\(method)(\"").map { start in
                        String(code.line[start.upperBound...].prefix { $0 != "\"" })
                    }
                })
        }
        let alone = addresses("post").subtracting(addresses("get"))
        #expect(alone.isEmpty, "\(file.path): use router.form(_:from:use:) for \(alone)")
    }
}
