/// The order in which SPiD's SDKs sort names before they sign, PHP's `strnatcmp`: digits in names count as numbers
/// (`a2` before `a10`), or as decimal places if they begin with a zero, and white space does not count.
enum NaturalOrder {
    static func precedes(_ left: String, _ right: String) -> Bool { compare(left, right) < 0 }

    /// Negative when `left` comes first, positive when `right` does, zero when they are equal.
    static func compare(_ left: String, _ right: String) -> Int {
        var (a, b) = (Array(left.utf8)[...], Array(right.utf8)[...])
        guard !a.isEmpty, !b.isEmpty else { return a.count - b.count }
        (a, b) = (withoutLeadingZeros(a), withoutLeadingZeros(b))
        repeat {
            (a, b) = (a.drop(while: isSpace), b.drop(while: isSpace))
            if let x = a.first, let y = b.first, isDigit(x), isDigit(y) {
                let (m, n) = (a.prefix(while: isDigit), b.prefix(while: isDigit))
                let order =
                    x == zero || y == zero ? compare(m, n) : m.count == n.count ? compare(m, n) : m.count - n.count
                guard order == 0 else { return order }
                (a, b) = (a.dropFirst(m.count), b.dropFirst(n.count))
                guard !a.isEmpty, !b.isEmpty else { break }
            }
            // The end counts as a byte below all others.
            let (x, y) = (a.first ?? 0, b.first ?? 0)
            guard x == y else { return x < y ? -1 : 1 }
            (a, b) = (a.dropFirst(), b.dropFirst())
        } while !a.isEmpty && !b.isEmpty
        return (a.isEmpty ? 0 : 1) - (b.isEmpty ? 0 : 1)
    }

    private static func compare(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Int {
        left.lexicographicallyPrecedes(right) ? -1 : left.elementsEqual(right) ? 0 : 1
    }

    /// Drops zeros only at the beginning of the text, and never the last digit.
    private static func withoutLeadingZeros(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while text.first == zero, let next = text.dropFirst().first, isDigit(next) { text = text.dropFirst() }
        return text
    }

    private static let zero = UInt8(ascii: "0")
    private static func isDigit(_ byte: UInt8) -> Bool { (zero...UInt8(ascii: "9")).contains(byte) }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
