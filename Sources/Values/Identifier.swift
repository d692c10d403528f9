public import Cryptography

/// The public name of an `Entity`: a distinct type, so that swapped arguments do not compile.
public struct Identifier<Entity>: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) { self.text = text }
    public var description: String { text }

    /// A new identifier of 24 hex digits (96 random bits), like SPiD's client ids.
    public static func random(from random: any RandomSource) -> Self {
        Self(Hexadecimal.encode(random.bytes(12)))
    }

    /// The first six characters, for the log when the id is unknown: a client may have sent a secret in its place.
    public var beginning: String { text.count > 6 ? text.prefix(6) + "…" : text }

    /// True for one id in 256: for upkeep that not every request should pay for.
    public var isSampled: Bool { text.hasSuffix("00") }
}

extension Identifier {
    /// A new identifier of 28 hex digits that sorts by time: 48 bits of milliseconds, 64 random bits. For ids that are
    /// not secret: rows made together are stored together, so a commit writes fewer pages.
    public static func ordered(at now: Timestamp, from random: any RandomSource) -> Self {
        Self(time(now) + Hexadecimal.encode(random.bytes(8)))
    }

    /// The identifier of `origin` at `now`, in the same order: the same origin and time give the same identifier.
    public static func ordered(at now: Timestamp, of origin: some Sequence<UInt8>) -> Self {
        Self(time(now) + Hexadecimal.encode(Array(Digest.sha256(origin).prefix(8))))
    }

    /// How many digits an identifier that sorts by time has.
    public static var orderedLength: Int { 28 }

    /// When an identifier that sorts by time was made; nil for any other.
    public var time: Timestamp? {
        guard text.utf8.count == Self.orderedLength, let time = Int64(text.prefix(12), radix: 16) else { return nil }
        return Timestamp(milliseconds: time)
    }

    static func time(_ now: Timestamp) -> String {
        let time = UInt64(bitPattern: now.milliseconds)
        return Hexadecimal.encode((1...6).map { UInt8(truncatingIfNeeded: time >> (48 - 8 * $0)) })
    }
}
