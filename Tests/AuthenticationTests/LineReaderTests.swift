import Testing

@testable import Directory
@testable import Authentication

@Suite("Reading lines of a file") struct LineReaderTests {
    static func lines(_ text: String, pieces size: Int) throws -> [LineReader.Line] {
        var rest = Array(text.utf8)[...]
        var reader = LineReader {
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
        var lines: [LineReader.Line] = []
        while let line = try reader.next() { lines.append(line) }
        #expect(try reader.next() == nil)
        return lines
    }

    @Test(
        "The line reader returns the same lines of a file whatever the size of the chunks it reads",
        arguments: [1, 2, 3, 7, 64, 100_000, 1_000_000])
    func pieces(_ size: Int) throws {
        func text(_ text: String) -> LineReader.Line { .text(Array(text.utf8)) }
        let longest = String(repeating: "x", count: LineReader.longest)
        #expect(try Self.lines("", pieces: size) == [])
        #expect(try Self.lines("\n", pieces: size) == [text("")])
        #expect(try Self.lines("a\n\nbc", pieces: size) == [text("a"), text(""), text("bc")])
        #expect(try Self.lines("a\nbc\n", pieces: size) == [text("a"), text("bc")])
        guard size > 3 else { return }
        #expect(try Self.lines(longest + "\n" + longest, pieces: size) == [text(longest), text(longest)])
        #expect(try Self.lines("a\n" + longest + "x\nb\n", pieces: size) == [text("a"), .tooLong, text("b")])
        #expect(try Self.lines(longest + longest + longest, pieces: size) == [.tooLong])
        #expect(try Self.lines(longest + longest + "x\n\nb", pieces: size) == [.tooLong, text(""), text("b")])
    }

    @Test("The line reader passes on an error of reading the file")
    func fault() {
        struct Fault: Error {}
        var reader = LineReader { throw Fault() }
        #expect(throws: Fault.self) { try reader.next() }
    }
}
