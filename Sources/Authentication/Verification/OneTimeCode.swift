import Cryptography

/// A code of six digits that a user reads in a mail and types.
enum OneTimeCode {
    static func random(from random: any RandomSource) -> String {
        // 64 bits modulo a million: no code is likelier than another by more than one in ten billion.
        let number = random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
        let digits = String(number)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The digits of the typed text: users copy spaces and hyphens along.
    static func digits(of text: String) -> String {
        String(text.prefix(40).filter { $0.isASCII && $0.isNumber })
    }
}
