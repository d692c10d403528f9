extension String {
    /// At most its first `count` bytes of UTF-8, in whole scalars. A character may have any number of bytes, so
    /// counting characters does not limit untrusted input.
    public func prefix(bytes count: Int) -> String {
        guard utf8.count > count else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: count)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { utf8.formIndex(before: &end) }
        return String(self[..<end])
    }
}
