import JSON
import Values

extension Timestamp {
    /// Reads `exp` as SPiD's SDKs write it, `2030-01-01 00:00:00+0000` with or without a space before the zone, or as
    /// the seconds since 1970 of RFC 7519 §4.1.4.
    init?(expiry: JSON) {
        if let seconds = expiry.integer {
            guard (0...253_402_300_799).contains(seconds) else { return nil }
            self.init(seconds: seconds)
        } else {
            guard let seconds = expiry.string.flatMap({ Self.seconds(date: Array($0.utf8)) }) else { return nil }
            self.init(seconds: seconds)
        }
    }

    /// `yyyy-MM-dd HH:mm:ss` and a zone: `+hhmm` or `-hhmm`, perhaps after a space.
    private static func seconds(date text: [UInt8]) -> Int64? {
        let zone = text.dropFirst(19).drop { $0 == UInt8(ascii: " ") }
        guard (24...25).contains(text.count), zone.count == 5,
            let sign = [UInt8(ascii: "+"): Int64(1), UInt8(ascii: "-"): -1][zone[zone.startIndex]],
            let zoneHours = number(zone.dropFirst().prefix(2), 0...14),
            let zoneMinutes = number(zone.suffix(2), 0...59),
            separators.allSatisfy({ text[$0.at] == $0.letter }),
            let year = number(text[0..<4], 1970...9999), let month = number(text[5..<7], 1...12),
            let day = number(text[8..<10], 1...daysIn(month, of: year)), let hour = number(text[11..<13], 0...23),
            let minute = number(text[14..<16], 0...59), let second = number(text[17..<19], 0...60)
        else { return nil }
        let time = hour * 3600 + minute * 60 + second
        return days(before: year, month) * 86400 + (day - 1) * 86400 + time - sign * (zoneHours * 60 + zoneMinutes) * 60
    }

    private static let separators: [(at: Int, letter: UInt8)] = [
        (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: " ")), (13, UInt8(ascii: ":")),
        (16, UInt8(ascii: ":")),
    ]

    private static func number(_ digits: ArraySlice<UInt8>, _ range: ClosedRange<Int64>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return range.contains(number) ? number : nil
    }

    /// Days from 1970 to the first of `month`.
    private static func days(before year: Int64, _ month: Int64) -> Int64 {
        let past = year - 1
        let toYear = past * 365 + past / 4 - past / 100 + past / 400 - 719_162
        return toYear + (1..<month).reduce(0) { $0 + daysIn($1, of: year) }
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
