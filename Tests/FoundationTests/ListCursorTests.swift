import Testing
import Values

@Suite("List cursors")
struct ListCursorTests {
    @Test("A list cursor yields its position only for its list and its filters, given in any order")
    func position() {
        let list = ListCursor(of: "clients", filters: [("a", "1"), ("b", "2")])
        let same = ListCursor(of: "clients", filters: [("b", "2"), ("a", "1")])
        for position in ["1", "1800000000000-abc", "ffff", "~!"] {
            #expect(same.position(of: list.text(after: position)) == position)
        }
        for other in [
            ListCursor(of: "clients"), ListCursor(of: "users", filters: [("a", "1"), ("b", "2")]),
            ListCursor(of: "clients", filters: [("a", "1")]),
            ListCursor(of: "clients", filters: [("a", "2"), ("b", "1")]),
        ] {
            #expect(other.position(of: list.text(after: "1")) == nil)
        }
    }

    @Test("Text that a list did not issue is refused as its cursor, whatever its bytes")
    func foreign() {
        let list = ListCursor(of: "users")
        for text in ["", "null", "0", "1001", "AAAAAAAA", "AAAAAAAAAAAA", " ", "é", "\u{0}"] {
            #expect(list.position(of: text) == nil, "\(text)")
        }
        // Positions that the database could not take, or that would be read as the first page.
        for position in ["", " ", "a b", "a\u{0}", "é", "\n"] {
            #expect(list.position(of: list.text(after: position)) == nil, "\(position)")
        }
    }
}
