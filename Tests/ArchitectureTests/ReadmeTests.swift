import Foundation
import Testing

/// The two screens by which readers judge the project.
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
