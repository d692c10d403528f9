import Values

extension Timestamp {
    /// The time in UTC in RFC 3339 format, to the millisecond.
    var rfc3339: String {
        let thousandths = String(milliseconds - seconds * 1000)
        return iso8601.dropLast() + "." + String(repeating: "0", count: 3 - thousandths.count) + thousandths + "Z"
    }
}
