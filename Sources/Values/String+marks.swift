extension String {
    /// Whether no more than 30 combining marks stand in a row (Stream-Safe Text Format, Unicode Standard Annex #15 §13).
    ///
    /// `==` and hashes go by canonical equivalence and put each run of marks in order, which costs the square of its
    /// length: 32,000 marks take ten seconds. So text of a stranger is asked this before it is compared with anything. No
    /// language has words with more than a few.
    public var isStreamSafe: Bool {
        // Both counts of a text in ASCII are known without counting.
        guard utf8.count != utf16.count else { return true }
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

    /// What a refusal of such text says.
    public static var tooManyMarks: String { "more than \(mostMarks) combining marks in a row" }
}

extension Unicode.Scalar {
    /// One that is put in order with those beside it. Three Tibetan signs have no combining class, but are made of two
    /// marks that have.
    fileprivate var isCombiningMark: Bool {
        switch value {
        // The first one with a class is U+0300.
        case ..<0x300: false
        case 0xF73, 0xF75, 0xF81: true
        default: properties.canonicalCombiningClass != .notReordered
        }
    }
}
