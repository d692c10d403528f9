/// The order in which SPiD's SDKs sort names before they sign: digits count as numbers (`a2` before `a10`).
enum NaturalOrder {
    static func precedes(_ left: String, _ right: String) -> Bool {
        var (left, right) = (Array(left.utf8)[...], Array(right.utf8)[...])
        while let a = left.first, let b = right.first {
            if isDigit(a), isDigit(b) {
                let (numberA, numberB) = (number(&left), number(&right))
                if numberA.count != numberB.count { return numberA.count < numberB.count }
                if numberA != numberB { return numberA.lexicographicallyPrecedes(numberB) }
            } else {
                if a != b { return a < b }
                left.removeFirst()
                right.removeFirst()
            }
        }
        return left.isEmpty && !right.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Takes the digits at the front of `text`, less the zeros they begin with.
    private static func number(_ text: inout ArraySlice<UInt8>) -> [UInt8] {
        let digits = text.prefix(while: isDigit)
        text = text.dropFirst(digits.count)
        return Array(digits.drop { $0 == UInt8(ascii: "0") })
    }
}
