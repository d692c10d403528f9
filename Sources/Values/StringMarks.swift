extension String {
    /// Whether at most 30 combining marks follow each other (Stream-Safe Text Format, Unicode Standard Annex #15 §13).
    ///
    /// `==` and hashes use canonical equivalence, and sort each run of marks in quadratic time: 32,000 marks take ten
    /// seconds. So untrusted text must pass this check before any comparison. No language has words with more than a
    /// few marks.
    public var isStreamSafe: Bool {
        guard !utf8Span.isKnownASCII else { return true }
        var marks = 0
        for scalar in unicodeScalars {
            guard scalar.isCombiningMark else {
                marks = 0
                continue
            }
            marks += 1
            guard marks <= Self.mostMarks else { return false }
        }
        return true
    }

    private static var mostMarks: Int { 30 }

    /// The message when such text is refused.
    public static var tooManyMarks: String { "more than \(mostMarks) combining marks in a row" }
}

extension Unicode.Scalar {
    /// Whether canonical ordering moves it. Three Tibetan signs have no combining class, but consist of two that do.
    fileprivate var isCombiningMark: Bool {
        switch value {
        // The first one with a class is U+0300.
        case ..<0x300: false
        case 0xF73, 0xF75, 0xF81: true
        default: properties.canonicalCombiningClass != .notReordered
        }
    }
}

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

/// Names in a JWT, compared code point by code point (RFC 7519 §2, StringOrURI). Swift takes strings for equal that
/// only look alike, such as one with U+212A for K.
extension [String] {
    package func holds(_ name: String) -> Bool { contains { $0.utf8.elementsEqual(name.utf8) } }
}
