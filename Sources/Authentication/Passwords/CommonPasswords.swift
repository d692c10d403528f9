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
