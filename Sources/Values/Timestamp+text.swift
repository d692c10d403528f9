import Glibc

extension Timestamp {
    /// The time in UTC to the second, by RFC 3339: 2031-02-03T04:05:06Z.
    public var iso8601: String {
        var seconds = time_t(self.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let day = [digits(parts.tm_year + 1900, 4), digits(parts.tm_mon + 1, 2), digits(parts.tm_mday, 2)]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }
        return "\(day.joined(separator: "-"))T\(time.joined(separator: ":"))Z"
    }
}
