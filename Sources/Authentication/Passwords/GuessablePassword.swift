/// A password as an attacker guesses it: without letter case, and without what users append to a word. `Password` uses
/// this to judge its strength.
struct GuessablePassword: Sendable {
    let folded: String
    /// `folded` without its trailing digits and marks, if there are only a few.
    let base: String

    init(_ text: String) {
        folded = text.lowercased()
        let tail = folded.reversed().prefix { !$0.isLetter }
        // "password2024!" is "password"; ten digits without a pattern are a password in themselves.
        base = tail.count <= Self.longestTail || Self.isRun(tail) ? String(folded.dropLast(tail.count)) : folded
    }

    /// The digits of a date and one mark.
    private static let longestTail = 7

    /// Whether it is one repeated character, or a straight sequence such as `abcdefgh` or `0987654321`.
    var isRun: Bool { Self.isRun(folded) }

    private static func isRun(_ characters: some Sequence<Character>) -> Bool {
        let characters = Array(characters)
        guard let first = characters.first else { return false }
        if characters.allSatisfy({ $0 == first }) { return true }
        let scalars = characters.compactMap { $0.unicodeScalars.count == 1 ? $0.unicodeScalars.first : nil }
        guard scalars.count == characters.count else { return false }
        let steps = Set(zip(scalars, scalars.dropFirst()).map { step(from: $0, to: $1) })
        return steps == [1] || steps == [-1]
    }

    /// 0 follows 9, as on the keyboard.
    private static func step(from a: Unicode.Scalar, to b: Unicode.Scalar) -> Int {
        switch (a, b) {
        case ("9", "0"): 1
        case ("0", "9"): -1
        default: Int(b.value) - Int(a.value)
        }
    }
}

/// The most common passwords in leaks, and the words they are made of.
struct CommonPasswords: Sendable {
    private let passwords: Set<String>
    /// The entries without trailing digits and marks, except those too short to mean anything.
    private let bases: Set<String>

    /// The bundled list, read once.
    static let bundled = CommonPasswords(list: PackageResources.common_passwords_txt)

    /// Reads a list with one password a line.
    init(list: [UInt8]) {
        let lines = list.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        passwords = Set(lines)
        bases = Set(lines.map { GuessablePassword($0).base }.filter { $0.count >= Self.shortestBase })
    }

    private static let shortestBase = 6

    func contain(_ password: GuessablePassword) -> Bool {
        passwords.contains(password.folded) || bases.contains(password.base)
    }
}

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
