import Foundation
import Testing

/// A text file of the repository, by its path from the root.
struct SourceFile: Sendable, CustomTestStringConvertible {
    let path: String
    let text: String
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        // By bytes: characters and regular expressions would take minutes for all files.
        lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// The second part of `Sources/Module/…`.
    var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
    var testDescription: String { path }
    /// The last part of the path, without its extension.
    var name: String { URL(filePath: path).deletingPathExtension().lastPathComponent }
    var length: Int { lines.count - 1 }

    /// The lines that are not comments, with their numbers.
    var code: [(number: Int, line: Substring)] {
        zip(1..., lines).filter { !$0.1.drop { $0 == " " }.utf8.starts(with: "//".utf8) }
            .map { (number: $0.0, line: $0.1) }
    }

    /// The same, of the lines that contain one of `words`.
    func code(with words: [String]) -> [(number: Int, line: Substring)] {
        // Most files have none of them.
        guard text.mentions(anyOf: words) else { return [] }
        return code.filter { $0.line.mentions(anyOf: words) }
    }

    /// The types that the file declares for others, outside other types.
    var types: [String] {
        let modifiers = /^(?:@\w+ |public |package |final |indirect |nonisolated )*/
        let declaration = /(?:struct|class|enum|protocol|actor|typealias) (\w+)/
        return code(with: Self.typeWords).compactMap { _, line in
            line.trimmingPrefix(modifiers).prefixMatch(of: declaration).map { String($0.output.1) }
        }
    }

    static let typeWords = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    /// The types that the file extends, and those that they are in.
    var extended: Set<String> {
        let declaration = /(?:public |package |private |fileprivate )?extension ([\w.]+)/
        let names = code(with: ["extension"]).compactMap { $0.line.prefixMatch(of: declaration)?.output.1 }
        return Set(names.flatMap { $0.split(separator: ".").map(String.init) })
    }
}

/// The repository that contains this file.
enum SourceTree {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static let sources = files(under: ["Sources"], endingIn: ["swift"])
    /// All compiled files.
    static let swiftFiles = files(under: ["Package.swift", "Sources", "Tests", "migrations"], endingIn: ["swift"])
    /// The folders of Sources.
    static let modules: [String] = names(in: "Sources")
    static let migrations = files(under: ["migrations"], endingIn: ["sql"])
    private static let pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
    static let documents = files(under: pages + ["docs"], endingIn: ["md"])
    /// Every committed text file, as far as file extensions tell.
    static let everything = files(
        under: pages + [
            "LICENSE", "Package.swift", ".gitignore", ".ci", "Sources", "Tests", "migrations", "deploy", "docs",
            "llms.txt",
        ],
        endingIn: nil)

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path(percentEncoded: false))
    }

    static func file(_ path: String) throws -> SourceFile {
        SourceFile(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
    }

    private static func files(under places: [String], endingIn endings: Set<String>?) -> [SourceFile] {
        places.flatMap { paths(under: $0) }.sorted()
            .filter { path in endings?.contains(URL(filePath: path).pathExtension) ?? true }
            .compactMap { try? file($0) }
    }

    private static func names(in folder: String) -> [String] {
        let path = root.appending(path: folder).path(percentEncoded: false)
        return (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? []
    }

    /// The files at or below `place`, without builds, virtual environments and caches.
    private static func paths(under place: String) -> [String] {
        let url = root.appending(path: place)
        guard let inside = try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false)) else {
            return exists(place) ? [place] : []
        }
        return inside.filter { !$0.hasPrefix(".build") && !["__pycache__", ".venv", ".pytest_cache"].contains($0) }
            .flatMap { paths(under: place + "/" + $0) }
    }
}

extension StringProtocol {
    /// Whether it contains `word`, byte by byte.
    func mentions(_ word: String) -> Bool {
        let word = Array(word.utf8)
        var text = Substring(self)
        return text.withUTF8 { text in
            guard let first = word.first, var place = text.baseAddress else { return word.isEmpty }
            let end = place + text.count
            while end - place >= word.count, let start = memchr(place, Int32(first), end - place) {
                place += UnsafeRawPointer(start) - UnsafeRawPointer(place)
                if end - place >= word.count, memcmp(place, word, word.count) == 0 { return true }
                place += 1
            }
            return false
        }
    }

    func mentions(anyOf words: [String]) -> Bool { words.contains { mentions($0) } }
}
