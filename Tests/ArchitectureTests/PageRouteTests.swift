import Testing

@Suite struct PageRouteTests {
    private static let pages = SourceTree.sources.filter { $0.module == "BrowserPages" }

    @Test("who loads the answer to a form again finds a page: each address that takes one has a GET", arguments: pages)
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
