import CLinux

/// The text of the field Date (RFC 9110 §6.6.1), made once a second.
final class DateClock {
    private var bytes: [UInt8] = []
    private var until = Milliseconds.min

    /// 29 bytes: `Sun, 06 Nov 1994 08:49:37 GMT`.
    func text(_ now: Milliseconds) -> [UInt8] {
        guard now >= until else { return bytes }
        let milliseconds = linux_unix_milliseconds()
        bytes = Array(Self.text(ofSecond: milliseconds / 1000).utf8)
        until = now + 1000 - milliseconds % 1000
        return bytes
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// IMF-fixdate of a second since 1970 (RFC 9110 §5.6.7). An earlier time counts as 1970.
    static func text(ofSecond second: Int64) -> String {
        let second = max(0, second)
        let (day, time) = (Int(second / 86_400), Int(second % 86_400))
        // Days since 1 March of the year 0 in eras of 400 years.
        let shifted = day + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 2 : marchMonth - 10
        let year = yearOfEra + era * 400 + (month <= 1 ? 1 : 0)
        return "\(days[day % 7]), \(two(dayOfMonth)) \(months[month]) \(year) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
