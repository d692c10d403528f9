import Foundation
import Testing

/// What a reader may take for granted in every source file.
@Suite struct StyleTests {
    @Test("no source file is over 300 lines, and nine in ten have at most 150")
    func sizes() {
        let sizes = SourceTree.sources.map { (path: $0.path, lines: $0.lines.count - 1) }
        #expect(sizes.count > 100, "where are the sources?")
        for (path, lines) in sizes { #expect(lines <= 300, "\(path) has \(lines) lines") }
        let short = sizes.filter { $0.lines <= 150 }.count
        #expect(short * 10 >= sizes.count * 9, "\(short) of \(sizes.count) have at most 150 lines")
    }

    @Test("no line is over 120 columns", arguments: SourceTree.swiftFiles)
    func columns(_ file: SourceFile) {
        for (number, line) in zip(1..., file.lines) { #expect(line.count <= 120, "\(file.path):\(number)") }
    }

    static let unfinished = ["TO" + "DO", "FIX" + "ME", "fatalError", "try!", "as!"]

    @Test("no source file holds a TODO, a forced try or cast, or a fatalError", arguments: SourceTree.sources)
    func unfinished(_ file: SourceFile) {
        for (number, line) in zip(1..., file.lines) {
            for word in Self.unfinished { #expect(!line.contains(word), "\(file.path):\(number) says \(word)") }
        }
    }

    static let ambientTime = ["Date()", "Date.now", "gettimeofday", "clock_gettime", "time(nil)", "CFAbsoluteTime"]
    static let ambientChance = [
        "RAND_bytes", "SystemRandomNumberGenerator", "UUID()", ".random(in:", "randomElement(", ".shuffled(",
        "arc4random", "getentropy", "getrandom",
    ]

    @Test("the time of day is read in one place, and randomness in one")
    func ambient() {
        #expect(places(of: Self.ambientTime) == ["Sources/Values/WallClock.swift"])
        #expect(places(of: Self.ambientChance) == ["Sources/Cryptography/RandomBlock.swift"])
    }

    private func places(of words: [String]) -> [String] {
        SourceTree.sources.flatMap { file in
            file.code.filter { code in words.contains { code.line.contains($0) } }.map { _ in file.path }
        }
    }

    /// Where the compiler is told that threads cannot meet, and why that is so.
    static let unchecked = [
        "Sources/Cryptography/FetchedDigest.swift": "OpenSSL's EVP_MD, fetched once and never changed",
        "Sources/Cryptography/FetchedCipher.swift": "OpenSSL's EVP_CIPHER, fetched once and never changed",
        "Sources/Cryptography/PrivateKey.swift": "OpenSSL's EVP_PKEY, never changed after it is made",
        "Sources/Cryptography/PrivateKey+signing.swift": "OpenSSL's EVP_PKEY_CTX, which one signature has at a time",
        "Sources/Cryptography/PublicKey.swift": "OpenSSL's EVP_PKEY, never changed after it is made",
        "Sources/HTTPServer/Loop/LoopBound.swift": "what belongs to one thread, and ends the process for another",
        "Sources/HTTPServer/TLS/TLSContext.swift": "OpenSSL's SSL_CTX, never changed after it is made",
        "Sources/StorageSQLite/Connection.swift": "an SQLite connection, which one thread has at a time",
    ]

    @Test("every type that opts out of the compiler's data race checks is on a short list with its reason")
    func unchecked() {
        let found = places(of: ["@unchecked Sendable", "nonisolated(unsafe)"])
        #expect(Set(found) == Set(Self.unchecked.keys))
        #expect(Self.unchecked.count <= 12)
    }

    @Test("no source uses URLSession, which would bring a second HTTP client with its own libcurl")
    func networking() {
        // In two halves, so that this file is not one of those it looks for.
        let word = "Foundation" + "Networking"
        for file in SourceTree.swiftFiles { #expect(!file.text.contains(word), "\(file.path) names \(word)") }
    }

    @Test("no file names a path of the machine it was written on", arguments: SourceTree.everything)
    func machines(_ file: SourceFile) {
        // In two halves, so that this file is not one of those it looks for.
        let paths = ["/wo" + "rk/", "/ro" + "ot/", "/Us" + "ers/", "/tmp/ba" + "sh", "/ho" + "me/"]
        for (number, line) in zip(1..., file.lines) {
            for path in paths { #expect(!line.contains(path), "\(file.path):\(number) names \(path)") }
        }
    }
}
