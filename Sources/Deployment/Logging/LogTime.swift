import Foundation
import Values

extension Timestamp {
    /// The moment in UTC by RFC 3339, to the millisecond.
    var rfc3339: String {
        var seconds = time_t(self.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let day = [digits(Int(parts.tm_year) + 1900, 4), digits(Int(parts.tm_mon) + 1, 2), digits(Int(parts.tm_mday), 2)]
        let time = [digits(Int(parts.tm_hour), 2), digits(Int(parts.tm_min), 2), digits(Int(parts.tm_sec), 2)]
        let fraction = digits(Int(milliseconds - self.seconds * 1000), 3)
        return "\(day.joined(separator: "-"))T\(time.joined(separator: ":")).\(fraction)Z"
    }
}
