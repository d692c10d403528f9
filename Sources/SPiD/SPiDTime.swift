import Glibc
import Values

extension Timestamp {
    /// The time as SPiD writes it: `2031-02-03 04:05:06`, in UTC.
    package var spidText: String { iso8601.replacing("T", with: " ").replacing("Z", with: "") }

    /// The day as SPiD shows it to users: `Feb 03, 2031`.
    package var spidDay: String {
        let parts = iso8601.prefix(10).split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), Self.months.indices.contains(month - 1) else { return "" }
        return "\(Self.months[month - 1]) \(parts[2]), \(parts[0])"
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension Timestamp {
    /// Reads seconds since 1970, a day, or a day and a time in UTC.
    package init?(spid text: String) {
        if let seconds = Int64(text), (0...253_402_300_799).contains(seconds) {
            self.init(seconds: seconds)
            return
        }
        let full = (text.count == 10 ? text + " 00:00:00" : text).replacing("T", with: " ").replacing("Z", with: "")
        let numbers = full.split { "- :".contains($0) }.compactMap { Int32($0) }
        guard full.utf8.count == 19, numbers.count == 6 else { return nil }
        var parts = tm()
        parts.tm_year = numbers[0] - 1900
        parts.tm_mon = numbers[1] - 1
        parts.tm_mday = numbers[2]
        parts.tm_hour = numbers[3]
        parts.tm_min = numbers[4]
        parts.tm_sec = numbers[5]
        self.init(seconds: Int64(timegm(&parts)))
        // The system takes the 31st of February for the 3rd of March; we refuse it.
        guard spidText == full else { return nil }
    }
}
