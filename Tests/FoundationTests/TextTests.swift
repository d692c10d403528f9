import Testing
import Text
import Values

/// What trimming removes from the ends of a text.
@Suite struct TextTests {
    @Test("Trimming removes characters from both ends of a text, and none within it")
    func characters() {
        #expect("[[::1]]".trimming { $0 == "[" || $0 == "]" } == "::1")
        #expect("  a b  ".trimming(while: \.isWhitespace) == "a b")
        #expect("\r\n a\t\r\n".trimming(while: \.isWhitespace) == "a")
        #expect("   ".trimming(while: \.isWhitespace).isEmpty && "".trimming { _ in true }.isEmpty)
        #expect("a".trimming { _ in false } == "a")
    }

    @Test("Trimming the end of a text leaves its beginning as it is")
    func suffix() {
        #expect(" a; ;".trimmingSuffix { $0 == ";" || $0 == " " } == " a")
        #expect(["a", "b", "b"].trimmingSuffix { $0 == "b" } == ["a"])
        #expect("…".trimmingSuffix { _ in true }.isEmpty)
    }

    @Test("A combining mark after a space is trimmed with its character, and kept when scalars are trimmed")
    func marks() {
        #expect(" \u{301}a".trimming(while: \.isWhitespace) == "a")
        #expect(Array(" \u{301}a ".trimmingScalars(while: \.isWhiteSpace).unicodeScalars) == ["\u{301}", "a"])
        // A mark of direction is part of a name.
        #expect(" \u{200F}a\u{2003}".trimmingScalars(while: \.isWhiteSpace) == "\u{200F}a")
    }

    @Test("Blanks are spaces of any width and tabs, but no line ends")
    func blanks() {
        #expect("\t \u{A0}\u{3000}\u{200B}a\u{200B}".trimmingScalars(while: \.isBlank) == "a")
        #expect("\na\u{2028}".trimmingScalars(while: \.isBlank) == "\na\u{2028}")
        #expect("\na\u{2028}".trimmingScalars(while: \.isWhiteSpace) == "a")
        #expect("\u{200B}a".trimmingScalars(while: \.isWhiteSpace) == "\u{200B}a")
    }

    @Test("A prefix of a text is limited in bytes, not characters, and splits no scalar")
    func bytes() {
        #expect("abc".prefix(bytes: 3) == "abc" && "abcd".prefix(bytes: 3) == "abc" && "".prefix(bytes: 0).isEmpty)
        #expect("aé".prefix(bytes: 2) == "a", "no scalar is cut in two")
        let one = "a" + String(repeating: "\u{301}", count: 5000)
        #expect(one.count == 1 && one.prefix(bytes: 300).utf8.count == 299)
        #expect("🙂🙂".prefix(bytes: 7) == "🙂")
    }

    @Test("Percent-encoding keeps unreserved characters and encodes every other byte (RFC 3986 §2.3)")
    func encoding() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(PercentEncoding.encode(unreserved) == unreserved)
        #expect(PercentEncoding.encode("a b+c/d?e=f&g%h") == "a%20b%2Bc%2Fd%3Fe%3Df%26g%25h")
        #expect(PercentEncoding.encode("é\u{0}\n") == "%C3%A9%00%0A")
        for byte in UInt8(0)..<0x80 where !unreserved.utf8.contains(byte) {
            #expect(PercentEncoding.encode(String(Unicode.Scalar(byte))).utf8.count == 3)
        }
    }

    @Test("Name and value pairs are joined as in a query or a form, both parts percent-encoded")
    func pairs() {
        #expect(PercentEncoding.encode(pairs: [("a", "1 2"), ("b&", "="), ("c", "")]) == "a=1%202&b%26=%3D&c=")
        #expect(PercentEncoding.encode(pairs: []).isEmpty)
    }

    @Test("Percent-encoded text is decoded, in either case of its digits")
    func decoding() {
        let bytes = Array(UInt8.min...UInt8.max)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(PercentEncoding.decode(PercentEncoding.encode(text).utf8) == Array(text.utf8))
        #expect(PercentEncoding.decode("%c3%A9".utf8) == Array("é".utf8))
    }

    @Test("A broken percent-escape is an error", arguments: ["%", "a%4", "%zz", "%+F", "%-0", "%%41", "%4\u{e9}"])
    func broken(_ text: String) { #expect(PercentEncoding.decode(text.utf8) == nil) }

    @Test("A plus decodes to a space in a form's fields, and stays a plus elsewhere")
    func plus() {
        #expect(PercentEncoding.decode("a+b%2B".utf8, ofForm: true) == Array("a b+".utf8))
        #expect(PercentEncoding.decode("a+b".utf8) == Array("a+b".utf8))
    }
}
