public import Cryptography

/// A user's number: a random integer below 2^53, so that every JSON reader keeps it exact. Written as a string.
public struct UserID: Sendable, Hashable, CustomStringConvertible {
    public let number: Int64

    public init(_ number: Int64) { self.number = number }

    /// Reads the decimal form in a URL or a `sub`; accepts only canonical digits.
    public init?(_ text: some StringProtocol) {
        guard let number = Int64(text), number > 0, number < 1 << 53, String(number) == text else { return nil }
        self.number = number
    }

    public var description: String { String(number) }

    /// A new random number. The caller's INSERT decides whether it was free.
    public static func random(from random: any RandomSource) -> UserID { UserID(spread: random.bytes(8)) }

    /// The number made from eight bytes, all of which count.
    public init(spread bytes: [UInt8]) {
        let value = bytes.reduce(Int64(0)) { $0 &<< 8 | Int64($1) }
        // Never zero, and always sixteen digits, so that the length reveals nothing about a user.
        number = 1_000_000_000_000_000 + (value & (1 << 62 - 1)) % (1 << 53 - 1_000_000_000_000_000)
    }
}
