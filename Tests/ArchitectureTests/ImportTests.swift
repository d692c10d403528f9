import Testing

/// Which module may know which library. The compiler checks the order of our modules, which Package.swift states.
@Suite struct ImportTests {
    static let homes: [String: Set<String>] = [
        "COpenSSL": ["Cryptography", "HTTPServer"],
        "CArgon2": ["Cryptography"],
        "CCrypt": ["Cryptography"],
        "CSQLite": ["StorageSQLite"],
        "CPostgreSQL": ["StoragePostgreSQL"],
        "CNGHTTP2": ["HTTPServer"],
        "CCurl": ["Transfer"],
        "CYAML": ["YAML"],
        "CUnistring": ["InternationalText"],
        "CIDN2": ["InternationalText"],
        "CLinux": ["HTTPServer", "Transfer", "Threads", "System"],
        "InternationalText": ["Cryptography", "Values", "Directory", "Authentication", "Pages"],
        "Transfer": ["Outbound", "Mail"],
        "HTTPServer": ["Server"],
        "HTTPSupport": ["Server", "TokenAPI", "BrowserPages", "AdminAPI", "SPiDAPI"],
        "CommandLineTool": ["Server"],
        "YAML": ["Server"],
        "Mustache": ["Pages"],
        "StorageSQLite": ["Server"],
        "StoragePostgreSQL": ["Server"],
    ]

    /// What comes with Swift.
    static let toolchain: Set = [
        "Foundation", "FoundationEssentials", "Synchronization", "Dispatch", "Glibc", "Testing", "PackageDescription",
    ]

    @Test("A library is imported only by the modules that the import rules allow for it", arguments: SourceTree.sources)
    func homes(_ file: SourceFile) {
        for (number, line) in file.code {
            guard let name = Self.imported(line), let homes = Self.homes[name] else { continue }
            #expect(homes.contains(file.module), "\(file.path):\(number) imports \(name)")
        }
    }

    @Test("Every library and module in the import rules' list is imported by some source file")
    func used() {
        let imported = Set(SourceTree.sources.flatMap { file in file.code.compactMap { Self.imported($0.line) } })
        for (name, homes) in Self.homes where !homes.isEmpty {
            #expect(imported.contains(name), "no file imports \(name)")
        }
    }

    @Test("Every import names a module of this package or of the toolchain", arguments: SourceTree.swiftFiles)
    func packages(_ file: SourceFile) {
        let known = Self.toolchain.union(SourceTree.modules).union(["Migrations", "TestSupport"])
        for (number, line) in file.code {
            guard let name = Self.imported(line) else { continue }
            #expect(known.contains(name), "\(file.path):\(number) imports \(name)")
        }
    }

    /// Each file with its reason: Foundation's libraries are half the size of a program that links them.
    static let foundation = [
        "Sources/Values/URIParts.swift": "the parser of URIs, which other software reads as we do"
    ]

    @Test("Only URIParts.swift imports a Foundation library, and only FoundationEssentials")
    func foundation() {
        var essentials: Set<String> = []
        for file in SourceTree.swiftFiles where !file.path.hasPrefix("Tests/") {
            for (number, line) in file.code {
                guard let name = Self.imported(line), name.hasPrefix("Foundation") else { continue }
                #expect(name == "FoundationEssentials", "\(file.path):\(number) imports \(name)")
                essentials.insert(file.path)
            }
        }
        #expect(essentials == Set(Self.foundation.keys))
    }

    @Test("The Swift package depends on no other Swift package")
    func manifest() throws {
        let manifest = try SourceTree.file("Package.swift")
        #expect(manifest.code.contains { $0.line.filter { $0 != " " } == "dependencies:[]," })
        for (number, line) in manifest.code {
            for word in [".package(", ".product(", ".plugin(", ".binaryTarget("] {
                #expect(!line.contains(word), "Package.swift:\(number) says \(word)")
            }
        }
        #expect(!SourceTree.exists("Package.resolved"))
    }

    @Test("Every system package that Package.swift names is in deploy/packages")
    func systemPackages() throws {
        let named = try SourceTree.file("Package.swift").text.matches(of: /\.apt\(\["([^"]+)"\]\)/).map(\.output.1)
        let listed = try SourceTree.file("deploy/packages").lines
        #expect(named.count >= 10)
        for name in named { #expect(listed.contains(name), "deploy/packages lacks \(name)") }
    }

    @Test("HTTPServer and the general-purpose modules import only the modules of this package listed for each")
    func borders() {
        let ours = Set(SourceTree.modules)
        let known = [
            "HTTPServer": ["HTTP", "Logging", "Threads", "COpenSSL", "CNGHTTP2", "CLinux"],
            "HTTP": [], "Logging": [], "Text": [], "Threads": ["CLinux"], "System": ["CLinux"],
            "CommandLineTool": ["Text"], "Mustache": [], "YAML": ["CYAML"],
        ]
        for file in SourceTree.sources {
            guard let allowed = known[file.module] else { continue }
            for name in file.code.compactMap({ Self.imported($0.line) }) where ours.contains(name) {
                #expect(allowed.contains(name), "\(file.path) imports \(name)")
            }
        }
    }

    @Test("Pages imports only templates, text, JSON and files; OAuth and Authentication never import each other")
    func strangers() {
        let ours = Set(SourceTree.modules).subtracting(["Mustache", "JSON", "Text", "InternationalText", "System"])
        for file in SourceTree.sources {
            for name in file.code.compactMap({ Self.imported($0.line) }) {
                #expect(file.module != "Pages" || !ours.contains(name), "\(file.path) imports \(name)")
                #expect((file.module, name) != ("OAuth", "Authentication"), "\(file.path)")
                #expect((file.module, name) != ("Authentication", "OAuth"), "\(file.path)")
            }
        }
    }

    @Test("TokenAPI, BrowserPages, AdminAPI and SPiDAPI are not imported by each other or by modules they share")
    func surfaces() {
        let surfaces: Set = ["TokenAPI", "BrowserPages", "AdminAPI", "SPiDAPI"]
        #expect(surfaces.isSubset(of: SourceTree.modules))
        #expect(!SourceTree.exists("Sources/Endpoints"))
        let others = surfaces.union(["HTTPSupport", "Administration", "OpenID", "SPiD", "Ditto"])
        for file in SourceTree.sources where others.contains(file.module) {
            for name in file.code.compactMap({ Self.imported($0.line) }) where name != file.module {
                #expect(!surfaces.contains(name), "\(file.path) imports \(name)")
            }
        }
    }

    @Test("The modules OpenID, SPiD, Ditto and Administration use no routes, requests, responses or fields")
    func dialects() {
        let dialects: Set = ["OpenID", "SPiD", "Ditto", "Administration"]
        let words = /(?:: |-> |inout )(?:Routes|Request|Response|Fields)\b/
        for file in SourceTree.sources where dialects.contains(file.module) {
            for (number, line) in file.code {
                #expect(!line.contains(words), "\(file.path):\(number)")
            }
        }
    }

    private static func imported(_ line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index + 1 < words.count,
            words[..<index].allSatisfy({ ["public", "package", "internal", "private", "@testable"].contains($0) })
        else { return nil }
        return words[index + 1].split(separator: ".").first.map(String.init)
    }
}
