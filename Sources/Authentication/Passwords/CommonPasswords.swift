/// The passwords that leaks show most, and the words they are made of.
struct CommonPasswords: Sendable {
    private let passwords: Set<String>
    /// What is left of an entry without its last digits and marks, unless it is too short to say anything.
    private let bases: Set<String>

    /// The list that comes with Spindle, read once.
    static let bundled = CommonPasswords(list: PackageResources.common_passwords_txt)

    /// One password a line.
    init(list: [UInt8]) {
        let lines = list.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        passwords = Set(lines)
        bases = Set(lines.map { PasswordGuess($0).base }.filter { $0.count >= Self.shortestBase })
    }

    private static let shortestBase = 6

    func contain(_ guess: PasswordGuess) -> Bool {
        passwords.contains(guess.folded) || bases.contains(guess.base)
    }
}
