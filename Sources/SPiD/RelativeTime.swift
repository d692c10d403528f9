import Glibc
package import Values

/// A time in the common phrases of PHP's strtotime, as SPiD reads them: `yesterday`, `last year`, `-7 days`, `1 week
/// ago`, `tomorrow noon`, several in a row. All in UTC, without regard to case.
struct RelativeTime {
    private var months: Int64 = 0
    private var seconds: Int64 = 0
    /// The hour of the day that a word sets; nil keeps the time of day.
    private var hour: Int32?

    /// The longest phrase, in bytes.
    private static let longest = 100
    private static let days: [String: (offset: Int64, hour: Int32)] = [
        "today": (0, 0), "midnight": (0, 0), "noon": (0, 12), "yesterday": (-1, 0), "tomorrow": (1, 0),
    ]
    private static let factors: [String: Int64] = ["last": -1, "previous": -1, "this": 0, "next": 1]
    private static let units: [String: Int64] = [
        "sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400,
        "fortnight": 14 * 86400,
    ]
    private static let longUnits: [String: Int64] = ["month": 1, "year": 12]
    /// Ten thousand years; no calendar reaches further.
    private static let mostMonths: ClosedRange<Int64> = -120_000...120_000

    /// Nil for any other text.
    init?(_ text: String) {
        guard text.utf8.count <= Self.longest, var words = Self.words(of: text), !words.isEmpty else { return nil }
        while !words.isEmpty {
            let word = words.removeFirst()
            if let factor = Self.factors[word] ?? Int64(word) {
                guard !words.isEmpty, add(factor, words.removeFirst()) else { return nil }
            } else if let day = Self.days[word] {
                guard add(day.offset, "day") else { return nil }
                hour = day.hour
            } else if word == "ago" {
                (months, seconds) = (-months, -seconds)
            } else if word != "now" {
                return nil
            }
        }
    }

    /// The moment that is meant at `now`; nil outside the calendar.
    func moment(at now: Timestamp) -> Timestamp? {
        var start = time_t(now.seconds)
        var parts = tm()
        gmtime_r(&start, &parts)
        if let hour { (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, 0, 0) }
        // As in PHP, a month before the 31st of March is the 31st of February, which is the 3rd of March.
        parts.tm_mon += Int32(months)
        let (end, isBeyond) = Int64(timegm(&parts)).addingReportingOverflow(seconds)
        guard !isBeyond, end >= 0 else { return nil }
        return Timestamp(seconds: end)
    }

    /// Adds `count` times the unit that `word` names, in the singular or the plural.
    private mutating func add(_ count: Int64, _ word: String) -> Bool {
        let name = word.hasSuffix("s") ? String(word.dropLast()) : word
        if let unit = Self.longUnits[name] {
            guard Self.mostMonths.contains(count) else { return false }
            months += count * unit
            return Self.mostMonths.contains(months)
        }
        guard let unit = Self.units[name] else { return false }
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: unit)
        let (sum, isBeyond) = seconds.addingReportingOverflow(product)
        seconds = sum
        // The least number has no opposite, which `ago` needs.
        return !isTooLarge && !isBeyond && sum != .min
    }

    /// The words and numbers of `text`, in lower case. A sign belongs to the number after it. Nil if there is anything
    /// else.
    private static func words(of text: String) -> [String]? {
        let piece = /[ \t]*(?:([+\-]?)[ \t]*([0-9]{1,13})|([a-z]{1,20}))/
        var rest = Substring(text.lowercased())
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        var words: [String] = []
        while !rest.isEmpty {
            guard let match = rest.prefixMatch(of: piece) else { return nil }
            if let word = match.3 {
                words.append(String(word))
            } else {
                words.append((match.1 == "-" ? "-" : "") + String(match.2 ?? ""))
            }
            rest = rest[match.range.upperBound...]
        }
        return words
    }
}

extension Timestamp {
    /// As above, or a phrase that means a moment before or after `now`.
    package init?(spid text: String, at now: Timestamp) {
        guard let moment = Timestamp(spid: text) ?? RelativeTime(text)?.moment(at: now) else { return nil }
        self = moment
    }
}
