import Foundation
import InternationalText
import JSON
import Testing
import Values

@Suite("Unicode normal forms") struct NormalFormTests {
    @Test(
        "Text is normalized to the same bytes for the same characters, however they were typed",
        arguments: [
            ("a", "a"), ("", ""), ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("A\u{30A}", "\u{C5}"),
            // Marks of two classes in either order; of one class as they stand.
            ("a\u{301}\u{323}", "\u{1EA1}\u{301}"), ("a\u{323}\u{301}", "\u{1EA1}\u{301}"),
            ("a\u{301}\u{300}", "\u{E1}\u{300}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
            // Look-alikes are different texts: no compatibility form.
            ("\u{FB01}", "\u{FB01}"), ("\u{FF21}", "\u{FF21}"), ("\u{B2}", "\u{B2}"),
            // A composition that the standard excludes.
            ("\u{958}", "\u{915}\u{93C}"),
        ])
    func composed(typed: String, form: String) {
        #expect(Array(typed.canonicallyComposed.utf8) == Array(form.utf8))
    }

    /// A password that was normalized by Foundation is still the same.
    @Test("Every code point, alone and beside a mark, has Foundation's normal form")
    func foundation() {
        var different = Set<UInt32>()
        for value in UInt32(0x80)...0x2FFFF {
            guard let scalar = Unicode.Scalar(value), (scalar.properties.age ?? (99, 0)).major < 15 else { continue }
            // Foundation mistakes these for the letters 65536 places before them.
            let alone = value > 0xFFFF
            for text in alone
                ? ["\(scalar)"] : ["\(scalar)", "\(scalar)\u{301}", "a\(scalar)\u{301}", "a\u{323}\(scalar)"]
            where Array(text.canonicallyComposed.utf8) != Array(text.precomposedStringWithCanonicalMapping.utf8) {
                different.insert(value)
            }
        }
        // Signs of Tibetan that the standard advises against; Foundation puts the marks after them out of order.
        #expect(different.subtracting([0xF73, 0xF75, 0xF81]).isEmpty)
    }

    @Test("Normalizing text twice gives the same as normalizing it once")
    func twice() {
        for text in ["a\u{301}\u{323}", "\u{1112}\u{1161}", "\u{F73}\u{323}", "\u{1F6}\u{345}", "x\u{0}e\u{301}"] {
            let form = text.canonicallyComposed
            #expect(Array(form.canonicallyComposed.utf8) == Array(form.utf8))
        }
    }

    @Test("A long run of combining marks is put in order, and does not grow")
    func long() {
        let text = "a" + String(repeating: "\u{301}\u{323}", count: 2000)
        #expect(text.canonicallyComposed.utf8.count == text.utf8.count)
    }

    private static func marks(_ count: Int, after start: String = "a") -> String {
        start + String((0..<count).map { $0.isMultiple(of: 2) ? "\u{300}" : "\u{316}" }.joined())
    }

    @Test(
        "Text with thirty combining marks in a row is accepted, however many letters have them",
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
        "Text with thirty-one combining marks in a row is refused, wherever they stand",
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
            // If it were made of marks, a mark of the lowest class before it would be reordered: two texts.
            let (before, after) = ("a\u{334}\(scalar)", "a\(scalar)\u{334}")
            if before == after { #expect(isMark, "\(String(value, radix: 16))") }
        }
    }

    /// Compared as texts, these two names would be one name twice.
    @Test("A long run of combining marks in a JSON member's name is refused before names are compared")
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

    @Test("Stored JSON with more than thirty combining marks in a row is still read")
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

@Suite("Host names in ASCII") struct HostNameTests {
    @Test(
        "An internationalized host name is converted to its ASCII form",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("例え.jp", "xn--r8jz45g.jp"),
            ("ｅｘａｍｐｌｅ.com", "example.com"), ("example。com", "example.com"), ("faß.de", "xn--fa-hia.de"),
            ("FAẞ.DE", "xn--fa-hia.de"), ("βόλος.com", "xn--nxasmm1c.com"), ("blåbærgrød.no", "xn--blbrgrd-fxak7p.no"),
            // An IP address passes: the parser of addresses reads it.
            ("127。0。0。1", "127.0.0.1"), ("①②⑦.0.0.1", "127.0.0.1"),
        ])
    func ascii(name: String, expected: String) { #expect(HostName.ascii(name) == expected) }

    @Test(
        "Text that is no host name is refused",
        arguments: [
            "ü\u{0}.example", "-ü.example", "ü-.example", "xn--ü.example", "xn--a.ü", "\u{301}a.com",
            String(repeating: "ü", count: 64) + ".example", String(repeating: "ü", count: 1024), "☃.example", "א1a.com",
        ])
    func refused(name: String) { #expect(HostName.ascii(name) == nil) }
}
