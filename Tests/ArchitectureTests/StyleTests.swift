import Foundation
import Testing

/// What a reader may take for granted in every source file.
@Suite struct StyleTests {
    @Test("A Swift file has at most 500 lines", arguments: SourceTree.swiftFiles)
    func size(_ file: SourceFile) { #expect(file.length <= 500, "\(file.path) has \(file.length) lines") }

    @Test("A source file below 25 lines declares a type or is its module's only file", arguments: SourceTree.sources)
    func fragments(_ file: SourceFile) {
        guard file.length < 25, SourceTree.sources.count(where: { $0.module == file.module }) > 1 else { return }
        #expect(!file.name.contains("+") && !file.types.isEmpty, "\(file.path) has \(file.length) lines")
    }

    /// Files whose types are named together, by what they are parts of.
    static let collections: Set = [
        "Sources/Authentication/Throttle/RequestThrottles.swift",
        "Sources/Directory/Clients/ClientRights.swift",
        "Sources/HTTPServer/HTTP1/RequestRules.swift",
        "Sources/OAuth/Authorization/PKCE.swift",
        "Sources/OAuth/Refresh/RefreshRedemptions.swift",
    ]

    @Test("A file is named for what it declares: X.swift for a type, X+y.swift for its extension")
    func names() {
        #expect(SourceTree.sources.count > 100, "where are the sources?")
        for file in SourceTree.sources where !Self.collections.contains(file.path) {
            let parts = file.name.split(separator: "+")
            let subject = parts.first?.split(separator: ".").last.map(String.init) ?? ""
            if parts.count > 1 {
                #expect(file.extended.contains(subject), "\(file.path) does not extend \(subject)")
            } else {
                // A file of extensions alone is named for what they share.
                #expect(file.types.isEmpty || file.types.contains(subject), "\(file.path) declares \(file.types)")
            }
        }
    }

    /// Words that leave open who acts, or for how long: readers had to read the sentences with them twice.
    static let riddles = ["nobody", "somebody", "whoever", "of before", "such a", "without end", "for ever"]

    /// Files that need one of these words, each with the reason.
    static let exceptions = [
        "Sources/Pages/Texts/en.json": "pages and mails are worded together with their translations",
        "Tests/ArchitectureTests/VocabularyTests.swift": "names words that it refuses",
    ]

    @Test(
        "Titles, comments and users' texts avoid the words that leave open who acts or for how long",
        arguments: SourceTree.everything)
    func riddles(_ file: SourceFile) {
        guard Self.exceptions[file.path] == nil else { return }
        for text in file.prose {
            let lowercase = text.lowercased()
            guard lowercase.mentions(anyOf: ["body", "whoever", "before", "such", "without", "ever"]) else { continue }
            let words = lowercase.split { !$0.isLetter && $0 != "_" }.joined(separator: " ")
            let said = Self.riddles.filter { " \(words) ".contains(" \($0) ") }
            #expect(said == [], "\(file.path): \(text.prefix(100))")
        }
    }

    @Test("No line is over 120 columns", arguments: SourceTree.swiftFiles)
    func columns(_ file: SourceFile) {
        for (number, line) in zip(1..., file.lines) where line.utf8.count > 120 {
            #expect(line.count <= 120, "\(file.path):\(number)")
        }
    }

    static let unfinished = ["TO" + "DO", "FIX" + "ME", "fatalError", "try!", "as!"]

    @Test("No source file holds a TODO, a forced try or cast, or a fatalError", arguments: SourceTree.sources)
    func unfinished(_ file: SourceFile) {
        for (number, line) in zip(1..., file.lines) {
            for word in Self.unfinished where line.mentions(word) {
                Issue.record("\(file.path):\(number) says \(word)")
            }
        }
    }

    static let ambientTime = ["Date()", "Date.now", "gettimeofday", "clock_gettime", "time(nil)", "CFAbsoluteTime"]
    static let ambientChance = [
        "RAND_bytes", "SystemRandomNumberGenerator", "UUID()", ".random(in:", "randomElement(", ".shuffled(",
        "arc4random", "getentropy", "getrandom",
    ]

    @Test("Only Timestamp.swift reads the time of day, and only RandomSource.swift draws random values")
    func ambient() {
        #expect(places(of: Self.ambientTime) == ["Sources/Values/Timestamp.swift"])
        #expect(places(of: Self.ambientChance) == ["Sources/Cryptography/RandomSource.swift"])
    }

    private func places(of words: [String]) -> [String] {
        SourceTree.sources.flatMap { file in
            file.code(with: words).map { _ in file.path }
        }
    }

    /// Where the compiler is told that threads cannot meet, and why.
    static let unchecked = [
        "Sources/Cryptography/FetchedDigest.swift": "OpenSSL's EVP_MD, fetched once and never changed",
        "Sources/Cryptography/FetchedCipher.swift": "OpenSSL's EVP_CIPHER, fetched once and never changed",
        "Sources/Cryptography/PrivateKey.swift": "OpenSSL's EVP_PKEY, never changed, and a context for each signature",
        "Sources/Cryptography/PublicKey.swift": "OpenSSL's EVP_PKEY, never changed after it is made",
        "Sources/HTTPServer/Loop/LoopBound.swift": "what belongs to one thread, and ends the process for another",
        "Sources/HTTPServer/TLS/TLSContext.swift": "OpenSSL's SSL_CTX, never changed after it is made",
        "Sources/StorageSQLite/Connection.swift": "an SQLite connection, which one thread has at a time",
    ]

    @Test("Every type that opts out of the compiler's data race checks is on a short list with its reason")
    func unchecked() {
        let found = places(of: ["@unchecked Sendable", "nonisolated(unsafe)"])
        #expect(Set(found) == Set(Self.unchecked.keys))
        #expect(Self.unchecked.count <= 12)
    }

    @Test("No Swift file imports the module of URLSession, which would be a second HTTP client")
    func networking() {
        // In two halves, so that this file is not one of those it looks for.
        let word = "Foundation" + "Networking"
        for file in SourceTree.swiftFiles { #expect(!file.text.mentions(word), "\(file.path) names \(word)") }
    }

    @Test("No file names a path of the machine it was written on", arguments: SourceTree.everything)
    func machines(_ file: SourceFile) {
        // In two halves, so that this file is not one of those it looks for.
        let paths = ["/wo" + "rk/", "/ro" + "ot/", "/Us" + "ers/", "/tmp/ba" + "sh", "/ho" + "me/"]
        for (number, line) in zip(1..., file.lines) {
            for path in paths where line.mentions(path) { Issue.record("\(file.path):\(number) names \(path)") }
        }
    }
}
