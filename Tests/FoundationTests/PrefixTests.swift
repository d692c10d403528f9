import Testing
import Values

@Suite struct PrefixTests {
    @Test("A prefix of a text counts bytes, however few characters they are")
    func bytes() {
        #expect("abc".prefix(bytes: 3) == "abc" && "abcd".prefix(bytes: 3) == "abc" && "".prefix(bytes: 0).isEmpty)
        #expect("aé".prefix(bytes: 2) == "a", "no scalar is cut in two")
        let one = "a" + String(repeating: "\u{301}", count: 5000)
        #expect(one.count == 1 && one.prefix(bytes: 300).utf8.count == 299)
        #expect("🙂🙂".prefix(bytes: 7) == "🙂")
    }
}
