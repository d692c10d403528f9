import Values

extension Timestamp {
    /// As SPiD writes a moment: `2031-02-03 04:05:06`, in UTC.
    var spidText: String { iso8601.replacing("T", with: " ").replacing("Z", with: "") }

    /// As SPiD writes a day that people read: `Feb 03, 2031`.
    var spidDay: String {
        let parts = iso8601.prefix(10).split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), Self.months.indices.contains(month - 1) else { return "" }
        return "\(Self.months[month - 1]) \(parts[2]), \(parts[0])"
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
