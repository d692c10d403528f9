/// A time zone in the form that the system keeps it in (TZif, RFC 9636): the moments at which its offset changes.
struct TimeZoneFile: Sendable {
    private var moments: [Int64] = []
    /// For each moment, the seconds that clocks are ahead of UTC from then on.
    private var offsets: [Int] = []
    /// The offset before the first of them.
    private var first = 0
    /// The rule that applies after the last of them.
    private var rule: TimeZoneRule?

    /// Nil for anything but a file of version 2 or later, which all are since 2005.
    init?(_ bytes: [UInt8]) {
        guard let old = Header(bytes[...]), old.version >= UInt8(ascii: "2") else { return nil }
        // The first block has times of four bytes, for readers of version 1 (RFC 9636 §3.2).
        let block = bytes.dropFirst(Header.size + old.blockSize(timeSize: 4))
        guard let header = Header(block) else { return nil }
        let data = block.dropFirst(Header.size)
        let (times, types) = (header.times * 8, header.times * 8 + header.times)
        guard data.count >= header.blockSize(timeSize: 8), header.types > 0 else { return nil }
        let kinds = (0..<header.types).map { kind in
            Int(Int32(truncatingIfNeeded: Self.number(data.dropFirst(types + kind * 6).prefix(4))))
        }
        moments = (0..<header.times).map { Self.number(data.dropFirst($0 * 8).prefix(8)) }
        for kind in data.dropFirst(times).prefix(header.times) {
            guard kinds.indices.contains(Int(kind)) else { return nil }
            offsets.append(kinds[Int(kind)])
        }
        first = kinds[0]
        let footer = data.dropFirst(header.blockSize(timeSize: 8)).dropFirst().prefix { $0 != UInt8(ascii: "\n") }
        rule = TimeZoneRule(String(decoding: footer, as: UTF8.self))
    }

    /// The seconds that clocks are ahead of UTC at `moment`, in seconds since 1970.
    func offset(at moment: Int64) -> Int {
        if moment >= moments.last ?? .min, let rule { return rule.offset(at: moment) }
        let next = moments.firstIndex { $0 > moment } ?? moments.count
        return next == 0 ? first : offsets[next - 1]
    }

    /// Big-endian, in two's complement.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    /// RFC 9636 §3.1.
    private struct Header {
        static let size = 44

        let version: UInt8
        let times, types, characters, leapSeconds, standards, universals: Int

        init?(_ bytes: ArraySlice<UInt8>) {
            let header = Array(bytes.prefix(Self.size))
            guard header.count == Self.size, header.starts(with: Array("TZif".utf8)) else { return nil }
            func count(_ index: Int) -> Int { Int(TimeZoneFile.number(header[(20 + index * 4)..<(24 + index * 4)])) }
            version = header[4]
            (universals, standards, leapSeconds) = (count(0), count(1), count(2))
            (times, types, characters) = (count(3), count(4), count(5))
        }

        func blockSize(timeSize: Int) -> Int {
            times * (timeSize + 1) + types * 6 + characters + leapSeconds * (timeSize + 4) + standards + universals
        }
    }
}
