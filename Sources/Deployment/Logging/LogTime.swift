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
        let year = digits(Int(parts.tm_year) + 1900, 4)
        let day = [parts.tm_mon + 1, parts.tm_mday].map { digits(Int($0), 2) }.joined(separator: "-")
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
        return "\(year)-\(day)T\(time).\(digits(Int(milliseconds - self.seconds * 1000), 3))Z"
    }
}
