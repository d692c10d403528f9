public import Cryptography

/// A person's number: a random integer below 2^53, so that every JSON reader keeps it whole. Written as a string.
public struct UserID: Sendable, Hashable, CustomStringConvertible {
    public let number: Int64

    public init(_ number: Int64) { self.number = number }

    /// Reads the decimal form, as it stands in a URL or a `sub`; nothing but canonical digits.
    public init?(_ text: some StringProtocol) {
        guard let number = Int64(text), number > 0, number < 1 << 53, String(number) == text else { return nil }
        self.number = number
    }

    public var description: String { String(number) }

    /// A new number. The caller's INSERT decides whether it was free.
    public static func random(from random: any RandomSource) -> UserID { UserID(spread: random.bytes(8)) }

    /// The number that eight bytes make, each of which counts.
    public init(spread bytes: [UInt8]) {
        let value = bytes.reduce(Int64(0)) { $0 &<< 8 | Int64($1) }
        // Never zero, and always sixteen digits: nothing about a person can be read off the length.
        number = 1_000_000_000_000_000 + (value & (1 << 62 - 1)) % (1 << 53 - 1_000_000_000_000_000)
    }
}
