import JSON
import Testing
import Values

@Suite("Runs of combining marks (UAX #15 §13)") struct StreamSafeTests {
    private static func marks(_ count: Int, after start: String = "a") -> String {
        start + String((0..<count).map { $0.isMultiple(of: 2) ? "\u{300}" : "\u{316}" }.joined())
    }

    @Test(
        "Thirty combining marks in a row are text, however many letters have them",
        arguments: [
            "", "plain", marks(30), marks(30) + marks(30), marks(30, after: ""), "Nguyễn Thị Ánh Tuyết",
            "Nguye\u{302}\u{303}n", "हिन्दी क्षत्रिय", "ประเทศไทยกำลังก้าวหน้า", "שָׁלוֹם", "ཧཱུྃ", "👩‍👩‍👧‍👦🇳🇴",
            String(repeating: "\u{1112}\u{1161}\u{11AB}", count: 1000), String(repeating: "e\u{301}", count: 1000),
        ])
    func honest(_ text: String) {
        #expect(text.isStreamSafe)
        #expect(throws: Never.self) { try JSON(parsing: JSON.members(["name": .string(text)]).bytes) }
    }

    @Test(
        "Thirty-one combining marks in a row are refused wherever they stand",
        arguments: [
            marks(31), marks(31, after: ""), "before " + marks(31) + "after", marks(30) + marks(31),
            marks(16_000), "a" + String(repeating: "\u{301}", count: 31),
            // Signs without a combining class that are made of two marks.
            "\u{F40}" + String(repeating: "\u{F73}", count: 31), String(repeating: "\u{F75}\u{F81}", count: 16),
            "a" + String(repeating: "\u{344}", count: 31), "a" + String(repeating: "\u{1E8D0}\u{10A0D}", count: 16),
        ])
    func hostile(_ text: String) { #expect(!text.isStreamSafe) }

    @Test("No code point decomposes into marks alone, except those that are counted as marks")
    func madeOfMarks() {
        for value in UInt32(0xA0)...0x2FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isMark = !String(repeating: Character(scalar), count: 31).isStreamSafe
            // Were it made of marks, one of the lowest class before it would stand before it in order, too: two texts.
            let (before, after) = ("a\u{334}\(scalar)", "a\(scalar)\u{334}")
            if before == after { #expect(isMark, "\(String(value, radix: 16))") }
        }
    }

    /// Were they compared, these two names would be the same one, twice.
    @Test("A run of combining marks in a JSON member's name is refused before the name is compared")
    func names() {
        let below = String(repeating: "\u{316}", count: 30)
        let (one, other) = ("a\u{300}\(below)", "a\(below)\u{300}")
        #expect(throws: JSONSyntaxError.tooManyMarks(offset: 2)) {
            try JSON(parsing: Array("{\"\(one)\":1,\"\(other)\":2}".utf8))
        }
        let escaped = "a" + String(repeating: #"\u0300\u0316"#, count: 16)
        #expect(throws: JSONSyntaxError.tooManyMarks(offset: 2)) { try JSON(parsing: Array("[\"\(escaped)\"]".utf8)) }
        #expect("\(JSONSyntaxError.tooManyMarks(offset: 2))" == "more than 30 combining marks in a row at byte 2")
    }

    @Test("Stored text that breaks the rule about combining marks is still read")
    func stored() throws {
        let json = JSON.members(["name": .string(Self.marks(31))])
        #expect(try JSON(stored: json.text) == json)
    }

    @Test("A host name that hides combining marks behind percent-escapes is refused")
    func hosts() {
        let marks = String(repeating: "%CC%80%CC%96", count: 16)
        #expect(HostSpelling.plain("a\(marks).example") == nil)
    }
}
