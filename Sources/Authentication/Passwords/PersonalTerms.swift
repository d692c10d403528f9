/// Terms that others who know the user could guess: addresses, names, and the words of a name.
struct PersonalTerms: Sendable {
    private let terms: Set<String>

    init(_ texts: [String]) {
        var terms: Set<String> = []
        for text in texts {
            terms.insert(Self.letters(text))
            for part in text.split(separator: "@").prefix(1) { terms.insert(Self.letters(part)) }
            for word in text.split(whereSeparator: \.isWhitespace) { terms.insert(Self.letters(word)) }
        }
        // A short name is part of many words and no password by itself.
        self.terms = terms.filter { $0.count >= 4 }
    }

    func contain(_ password: GuessablePassword) -> Bool {
        terms.contains(Self.letters(password.folded)) || terms.contains(Self.letters(password.base))
    }

    /// The text without letter case and separators: "Kari Nordmann" equals "kari.nordmann".
    private static func letters(_ text: some StringProtocol) -> String {
        text.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}
