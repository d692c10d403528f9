import Foundation
import Testing

/// The two screens by which people judge the project, and the way from there to every other page.
@Suite struct ReadmeTests {
    @Test("No sentence of the README has more than 30 words")
    func sentences() throws {
        let sentences = try Self.sentences(of: SourceTree.file("README.md"))
        #expect(sentences.count > 30)
        for sentence in sentences {
            let words = sentence.split(separator: " ").filter { $0.contains { $0.isLetter || $0.isNumber } }
            #expect(words.count <= 30, "\(words.count) words: \(sentence)")
        }
    }

    @Test("The README has at most 130 lines, two screens")
    func length() throws { #expect(try SourceTree.file("README.md").lines.count <= 130) }

    /// The figures stay true when the benchmarks are run anew, or this fails.
    @Test("The last benchmark is below the README's limits for start-up time and memory")
    func figures() throws {
        let readme = try SourceTree.file("README.md").text.replacing(/\s+/, with: " ")
        let measured = try SourceTree.file("Tests/Benchmarks/results/latest.md").text
        let promise = try #require(readme.firstMatch(of: /ready in less than (\d+) ms and takes less than (\d+) MiB/))
        let last = try #require(measured.firstMatch(of: /Ready (\d+) ms after the start.*; resident (\d+) MiB then/))
        #expect(try #require(Int(last.output.1)) < #require(Int(promise.output.1)))
        #expect(try #require(Int(last.output.2)) < #require(Int(promise.output.2)))
    }

    @Test("Every page of docs is reached by links that start at docs/README.md")
    func reachable() throws {
        let pages = Dictionary(
            uniqueKeysWithValues: SourceTree.documents.filter { $0.path.hasPrefix("docs/") }.map { ($0.path, $0) })
        var reached: Set = ["docs/README.md"]
        var waiting = ["docs/README.md"]
        while let path = waiting.popLast() {
            let linked = try #require(pages[path]).links.filter { pages[$0] != nil }
            waiting += linked.filter { reached.insert($0).inserted }
        }
        #expect(pages.keys.filter { !reached.contains($0) }.sorted() == [])
    }

    /// Sentences of prose, of list items and of table cells: without commands, tags and the addresses of links.
    private static func sentences(of page: SourceFile) -> [String] {
        let prose = page.text.replacing(/(?s)```.*?```/, with: "\n\n").replacing(/<[^>]*>/, with: "")
            .replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.output.1) }
        let paragraphs = prose.replacing(/(?m)^(?:\* |#+ )/, with: "\n\n").components(separatedBy: "\n\n")
        let texts = paragraphs.flatMap { paragraph in
            paragraph.hasPrefix("|") ? paragraph.components(separatedBy: "|") : [paragraph]
        }
        return texts.flatMap { text in
            text.replacing(/\s+/, with: " ").split(separator: /[.!?][*)]*(?: |$)/).map(String.init)
        }
    }
}

extension SourceFile {
    /// The files that this page links to, by their paths from the root.
    fileprivate var links: [String] {
        let folder = path.split(separator: "/").dropLast().map(String.init)
        return text.matches(of: /\]\((?!https?:)([^)#\s]+)/).map { match in
            match.output.1.split(separator: "/").reduce(into: folder) { place, step in
                if step == ".." { _ = place.popLast() } else if step != "." { place.append(String(step)) }
            }
            .joined(separator: "/")
        }
    }
}
