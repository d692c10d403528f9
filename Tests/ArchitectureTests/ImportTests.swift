import Testing

/// Which module may know which library. The order of our own modules is Package.swift's, and the compiler's to see to.
@Suite struct ImportTests {
    static let homes: [String: Set<String>] = [
        "GRDB": ["StorageSQLite"],
        "CPostgreSQL": ["StoragePostgreSQL"],
        "COpenSSL": ["Cryptography"],
        "CArgon2": ["Cryptography"],
        "CCrypt": ["Cryptography"],
        "CCurl": ["Mail"],
        "Hummingbird": ["Endpoints", "Deployment"],
        "HummingbirdCore": ["Deployment"],
        "HummingbirdHTTP2": ["Deployment"],
        "HummingbirdTLS": ["Deployment"],
        "HTTPTypes": ["Endpoints"],
        "NIOSSL": ["Deployment", "Outbound"],
        "Mustache": ["Pages"],
        "JWTKit": ["JOSE"],
        "AsyncHTTPClient": ["Outbound"],
        "FoundationNetworking": [],
        "ArgumentParser": ["Deployment"],
        "Configuration": ["Deployment"],
        "ServiceLifecycle": ["Deployment"],
        "StorageSQLite": ["Deployment"],
        "StoragePostgreSQL": ["Deployment"],
    ]

    @Test("a library is imported by its own module only", arguments: SourceTree.sources)
    func homes(_ file: SourceFile) {
        for (number, line) in file.code {
            guard let name = Self.imported(line), let homes = Self.homes[name] else { continue }
            #expect(homes.contains(file.module), "\(file.path):\(number) imports \(name)")
        }
    }

    @Test("every library with a home is imported there")
    func used() {
        let imported = Set(SourceTree.sources.flatMap { file in file.code.compactMap { Self.imported($0.line) } })
        for (name, homes) in Self.homes where !homes.isEmpty {
            #expect(imported.contains(name), "nobody imports \(name)")
        }
    }

    @Test("the pages know nothing of ours, and OAuth and Identity nothing of each other")
    func strangers() {
        let ours = Set(SourceTree.sources.map(\.module))
        for file in SourceTree.sources {
            for name in file.code.compactMap({ Self.imported($0.line) }) {
                #expect(file.module != "Pages" || !ours.contains(name), "\(file.path) imports \(name)")
                #expect((file.module, name) != ("OAuth", "Identity"), "\(file.path)")
                #expect((file.module, name) != ("Identity", "OAuth"), "\(file.path)")
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
