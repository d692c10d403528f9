/// The fields between the `$` of a hash, in the notations of several systems.
enum HashField {
    /// The salt lengths to accept: more than any system uses.
    static let saltLengths = 1...128
    /// With less than sixteen bytes another password may match by chance.
    static let digestLengths = 16...64

    /// The fields of `$a$b$c`, including empty ones; nil without a leading `$`.
    static func split(_ encoded: String) -> [Substring]? {
        guard encoded.utf8.first == UInt8(ascii: "$") else { return nil }
        return encoded.dropFirst().split(separator: "$", omittingEmptySubsequences: false)
    }

    /// A number in plain digits, such as `65536`.
    static func number(_ text: some StringProtocol) -> Int? {
        guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// The numbers of `ln=14,r=8,p=1`, with exactly these names in this order.
    static func numbers(_ text: Substring, named names: [String]) -> [Int]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == names.count else { return nil }
        var numbers: [Int] = []
        for (part, name) in zip(parts, names) {
            guard part.hasPrefix(name + "="), let number = number(part.dropFirst(name.count + 1)) else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    /// Base64 with or without padding; passlib writes `.` for `+`.
    static func bytes(_ text: Substring) -> [UInt8]? {
        let padding = text.reversed().prefix { $0 == "=" }.count
        guard padding == 0 || padding <= 2 && text.utf8.count.isMultiple(of: 4) else { return nil }
        let letters = text.utf8.dropLast(padding).map { letter in
            switch letter {
            case UInt8(ascii: "+"), UInt8(ascii: "."): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        return Base64URL.decode(String(decoding: letters, as: UTF8.self))
    }
}
