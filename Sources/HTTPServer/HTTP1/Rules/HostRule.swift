import CLinux

/// The field Host (RFC 9112 §3.2, RFC 9110 §7.2): a host, and perhaps a port.
enum HostRule {
    /// RFC 3986 §3.2.2 without the comma: two hosts joined by one are not a host.
    private static let name = ByteSet { $0.isUnreserved || "!$&'()*+;=".utf8.contains($0) }

    static func isValid(_ value: borrowing Span<UInt8>) -> Bool {
        guard let host = hostLength(value) else { return false }
        guard host < value.count else { return true }
        return value[host] == UInt8(ascii: ":") && isPort(value.extracting((host + 1)...))
    }

    /// Whether two valid values name the same server. Case and a scheme's default port do not count.
    static func areEqual(_ one: borrowing Span<UInt8>, _ other: borrowing Span<UInt8>) -> Bool {
        let (first, second) = (withoutDefaultPort(one), withoutDefaultPort(other))
        guard first == second else { return false }
        for index in 0..<first where one[index].folded != other[index].folded { return false }
        return true
    }

    private static func withoutDefaultPort(_ value: borrowing Span<UInt8>) -> Int {
        guard let host = hostLength(value), host < value.count else { return value.count }
        let port = value.extracting((host + 1)...)
        return port.count == 0 || port.equals("80") || port.equals("443") ? host : value.count
    }

    /// The length of the host; nil when the value does not begin with one.
    private static func hostLength(_ value: borrowing Span<UInt8>) -> Int? {
        guard value.count > 0, value.count <= 261 else { return nil }
        guard value[0] != UInt8(ascii: "[") else { return literalLength(value) }
        let name = name
        var index = 0
        while index < value.count, value[index] != UInt8(ascii: ":") {
            if value[index] == UInt8(ascii: "%") {
                guard index + 2 < value.count, value[index + 1].hexadecimalValue != nil,
                    value[index + 2].hexadecimalValue != nil
                else { return nil }
                index += 3
            } else {
                guard name.contains(value[index]) else { return nil }
                index += 1
            }
        }
        return index > 0 ? index : nil
    }

    private static func literalLength(_ value: borrowing Span<UInt8>) -> Int? {
        guard let end = value.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let address = value.extracting(1..<end).text
        guard address.utf8.allSatisfy({ $0.hexadecimalValue != nil || $0 == 0x3A || $0 == 0x2E }) else { return nil }
        return unsafe linux_is_ipv6_address(address) == 1 ? end + 1 : nil
    }

    private static func isPort(_ digits: borrowing Span<UInt8>) -> Bool {
        guard digits.count <= 5 else { return false }
        var port = 0
        for index in 0..<digits.count {
            guard digits[index].isDigit else { return false }
            port = port * 10 + Int(digits[index] - 0x30)
        }
        return port <= 65_535
    }
}
