import Foundation
import Testing

/// The inputs that Tests/fuzz kept, without a sanitizer: Tests/fuzz itself sends new bytes to the same readers.
@Suite struct CorpusTests {
    @Test("Every fuzzed parser holds its invariants for every input in the kept corpus", arguments: Self.inputs)
    func keptInput(_ input: Input) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == input.target })
        target.read(Array(try Data(contentsOf: input.file)))
    }

    @Test("Every fuzzed parser has inputs in the kept corpus")
    func everyTarget() {
        #expect(Set(Self.inputs.map(\.target)) == Set(FuzzTarget.all.map(\.name)))
    }

    struct Input: Sendable, CustomTestStringConvertible {
        let target: String
        let file: URL
        var testDescription: String { "\(target)/\(file.lastPathComponent)" }
    }

    private static let inputs: [Input] = {
        let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "corpus")
        return FuzzTarget.all.flatMap { target in
            let folder = corpus.appending(path: target.name)
            let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            return (files ?? []).map { Input(target: target.name, file: $0) }
        }
    }()
}

func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    #expect(condition, "\(what())")
}
