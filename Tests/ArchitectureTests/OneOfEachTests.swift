import Testing

/// Helpers that every module needs are written once, where all of them reach them.
@Suite struct OneOfEachTests {
    /// Words of the one implementation, and the file that may say them.
    static let homes = [
        "pthread_create": "Sources/Threads/SystemThread.swift",
        "func trimming(": "Sources/Text/Trimming.swift",
        "func trimmingSuffix(": "Sources/Text/Trimming.swift",
        "enum PercentEncoding": "Sources/Text/PercentEncoding.swift",
    ]

    /// Foundation's counterparts, which would be a second implementation.
    static let seconds = [
        " Thread {", "Thread(block", "detachNewThread", "trimmingCharacters", "addingPercentEncoding",
        "removingPercentEncoding", "CharacterSet",
    ]

    @Test(
        "Only one file starts threads, only one trims text, and only one percent-encodes it",
        arguments: SourceTree.sources
    )
    func one(_ file: SourceFile) {
        for (number, line) in file.code(with: Self.seconds + Self.homes.keys) {
            for word in Self.seconds { #expect(!line.mentions(word), "\(file.path):\(number) says \(word)") }
            for (word, home) in Self.homes where line.mentions(word) {
                #expect(file.path == home, "\(file.path):\(number) says \(word)")
            }
        }
    }

    @Test("Each shared helper is found in the one file that is listed for it")
    func found() throws {
        for (word, home) in Self.homes { #expect(try SourceTree.file(home).text.mentions(word), "\(home)") }
    }

    @Test("Only a server with the pages of development mode remembers requests and tells reasons in answers")
    func development() throws {
        let home = try SourceTree.file("Sources/Server/Development/DevelopmentParts.swift")
        #expect(home.text.contains("guard parts.templates.isDevelopment else { return nil }"))
        for file in SourceTree.sources where file.path != home.path {
            for (number, line) in file.code {
                for word in ["DevelopmentRouter(", "DevelopmentMemory("] {
                    #expect(!line.contains(word), "\(file.path):\(number) makes one")
                }
            }
        }
    }

    private static let pages = SourceTree.sources.filter { $0.module == "BrowserPages" }

    @Test("Every address of BrowserPages that takes a form by POST also answers GET", arguments: pages)
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
