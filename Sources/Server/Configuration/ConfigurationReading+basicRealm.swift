extension ConfigurationReading {
    /// The realm is sent in a quoted string, which some clients read only up to its first backslash (RFC 9110 §5.6.4).
    mutating func basicRealm() -> String? {
        value(.basicRealm, "1 to 100 printable characters of ASCII, without \" and \\") { text in
            let isQuotable = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            return isQuotable && (1...100).contains(text.utf8.count) ? text : nil
        }
    }
}
