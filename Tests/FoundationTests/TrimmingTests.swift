import Testing
import Text

/// What is cut off the ends of a text, and what is not.
@Suite struct TrimmingTests {
    @Test("Characters are trimmed from both ends, and none within")
    func characters() {
        #expect("[[::1]]".trimming { $0 == "[" || $0 == "]" } == "::1")
        #expect("  a b  ".trimming(while: \.isWhitespace) == "a b")
        #expect("\r\n a\t\r\n".trimming(while: \.isWhitespace) == "a")
        #expect("   ".trimming(while: \.isWhitespace).isEmpty && "".trimming { _ in true }.isEmpty)
        #expect("a".trimming { _ in false } == "a")
    }

    @Test("Trimming the end leaves the beginning as it is")
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
}
