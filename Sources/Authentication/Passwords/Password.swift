import Cryptography
public import JSON

/// A password that may be set: 8 to 128 characters of any kind, without composition rules, and not easily guessed.
public struct Password: Sendable {
    let text: String

    /// Checks a password that a user chooses. It must not be any of `personal`: their address, their names, the
    /// service's name.
    public init(_ text: String, personal: [String]) throws(PasswordFault) {
        // Swift counts characters the same in every normalization form, so NFC waits until the text is hashed.
        guard text.count >= 8 else { throw .tooShort }
        guard text.count <= 128, text.utf8.count <= PasswordTooLong.limit else { throw .tooLong }
        let guessable = GuessablePassword(text)
        guard !guessable.isRun, !CommonPasswords.bundled.contain(guessable) else { throw .common }
        guard !PersonalTerms(personal).contain(guessable) else { throw .personal }
        self.text = text
    }

    /// Checks a password that administration sets, without knowing the user.
    public init(_ text: String) throws(JSONFault) {
        // A form cannot carry NUL, so the user could never type it.
        guard !text.utf8.contains(0) else { throw JSONFault("password", "8 to 128 characters, none of them NUL") }
        do { try self.init(text, personal: []) } catch { throw JSONFault("password", error.expected) }
    }
}

/// Why a password may not be set.
public enum PasswordFault: Error, Sendable, Hashable, CaseIterable {
    case tooShort
    case tooLong
    /// The password is a common one, or close to one.
    case common
    /// The password names the user or the service.
    case personal

    /// What was expected, as the end of the sentence "must be …".
    public var expected: String {
        switch self {
        case .tooShort, .tooLong: "8 to 128 characters"
        case .common: "no common password"
        case .personal: "different from addresses and names of the user and the service"
        }
    }
}
