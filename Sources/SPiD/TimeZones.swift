import Glibc
import Synchronization
import System

/// The time zones that the system knows (the IANA database), each read when it is first asked for.
enum TimeZones {
    private static let folder = "/usr/share/zoneinfo"
    private static let known = Mutex<[String: TimeZoneFile]>([:])

    /// The zone `name` (`Europe/Oslo`); nil for a name that is not in the database.
    static func named(_ name: String) -> TimeZoneFile? {
        if let zone = known.withLock({ $0[name] }) { return zone }
        // The name comes from a user and must not lead out of the folder.
        guard name.utf8.count <= 64, name.wholeMatch(of: /[A-Z][A-Za-z0-9_+\-]*(\/[A-Za-z0-9_+\-]+)*/) != nil,
            let zone = Files.read("\(folder)/\(name)").flatMap({ TimeZoneFile($0) })
        else { return nil }
        known.withLock { $0[name] = zone }
        return zone
    }
}

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

/// How a zone's offset changes each year, as the last line of its file says (RFC 9636 §3.3.1, POSIX's TZ):
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
struct TimeZoneRule: Sendable {
    /// The seconds that clocks are ahead of UTC, with and without summer time.
    private let standard, summer: Int
    private let start, end: Change?

    /// Nil for anything else.
    init?(_ text: String) {
        let form =
            #/
            (?:[A-Za-z]+|<[A-Za-z0-9+\-]+>)([+\-]?[0-9:]+)
            (?:(?:[A-Za-z]+|<[A-Za-z0-9+\-]+>)([+\-]?[0-9:]+)?,([^,]+),([^,]+))?
            /#
        guard let parts = text.wholeMatch(of: form)?.output, let offset = Self.seconds(parts.1) else { return nil }
        // POSIX counts the hours that clocks are behind UTC.
        standard = -offset
        guard let first = parts.3, let last = parts.4 else {
            (summer, start, end) = (standard, nil, nil)
            return
        }
        guard let start = Change(first), let end = Change(last) else { return nil }
        summer = parts.2.flatMap { Self.seconds($0) }.map { -$0 } ?? standard + 3600
        (self.start, self.end) = (start, end)
    }

    func offset(at moment: Int64) -> Int {
        guard let start, let end else { return standard }
        let year = Self.year(of: moment + Int64(standard))
        let (first, last) = (start.time(in: year) - Int64(standard), end.time(in: year) - Int64(summer))
        // In the south summer lasts over the new year.
        let isSummer = first < last ? first <= moment && moment < last : first <= moment || moment < last
        return isSummer ? summer : standard
    }

    private static func year(of moment: Int64) -> Int32 {
        var (seconds, parts) = (time_t(moment), tm())
        gmtime_r(&seconds, &parts)
        return parts.tm_year + 1900
    }

    /// `[+|-]hours[:minutes[:seconds]]`
    fileprivate static func seconds(_ text: Substring) -> Int? {
        let numbers = text.drop { "+-".contains($0) }.split(separator: ":").map { Int($0) ?? .max }
        guard (1...3).contains(numbers.count), numbers[0] <= 167, numbers.dropFirst().allSatisfy({ $0 < 60 }) else {
            return nil
        }
        let sum = zip(numbers, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
        return text.hasPrefix("-") ? -sum : sum
    }

    /// A day of the year and a time of that day, by the clocks until then.
    private struct Change {
        /// `Mm.w.d`: the `w`th day `d` of the week (0 is Sunday) in the month `m`, 5 for the last. `Jn`: the `n`th day,
        /// without 29 February. `n`: the day after `n` others.
        enum Day { case ofMonth(Int32, week: Int, day: Int), julian(Int), after(Int) }

        let day: Day
        let seconds: Int

        init?(_ text: Substring) {
            let parts = text.split(separator: "/", maxSplits: 1)
            guard let date = parts.first, let seconds = parts.count == 2 ? TimeZoneRule.seconds(parts[1]) : 7200 else {
                return nil
            }
            self.seconds = seconds
            let numbers = date.drop { "MJ".contains($0) }.split(separator: ".").compactMap { Int($0) }
            switch (date.first, numbers.count) {
            case ("M", 3) where (1...12).contains(numbers[0]) && (1...5).contains(numbers[1]) && numbers[2] < 7:
                day = .ofMonth(Int32(numbers[0]), week: numbers[1], day: numbers[2])
            case ("J", 1) where numbers[0] <= 365: day = .julian(numbers[0])
            case (_, 1) where numbers[0] <= 365: day = .after(numbers[0])
            default: return nil
            }
        }

        /// In seconds since 1970, as if the clocks showed UTC.
        func time(in year: Int32) -> Int64 {
            let days: Int
            switch day {
            case .ofMonth(let month, let week, let day):
                let (first, next) = (Self.day(year, month), Self.day(year, month + 1))
                // 1 January 1970 was a Thursday.
                let wanted = first + (day - first - 4 + 7 * 1_000_000) % 7 + (week - 1) * 7
                days = wanted < next ? wanted : wanted - 7
            case .julian(let number):
                let isAfterLeapDay = number >= 60 && Self.day(year, 3) - Self.day(year, 2) == 29
                days = Self.day(year, 1) + number - (isAfterLeapDay ? 0 : 1)
            case .after(let number): days = Self.day(year, 1) + number
            }
            return Int64(days * 86_400 + seconds)
        }

        /// The days from 1970 to the first of `month`.
        private static func day(_ year: Int32, _ month: Int32) -> Int {
            var parts = tm()
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, 1)
            return timegm(&parts) / 86_400
        }
    }
}
