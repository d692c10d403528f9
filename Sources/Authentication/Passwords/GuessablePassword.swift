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
