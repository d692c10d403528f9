import Glibc

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
