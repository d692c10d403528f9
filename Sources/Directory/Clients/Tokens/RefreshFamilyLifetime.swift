import JSON
package import Values

/// How long the refresh tokens from one sign-in live together, however often they are used.
public enum RefreshFamilyLifetime: Sendable, Equatable {
    case atMost(Duration)
    /// As long as the newest of them is used within its own lifetime.
    case whileUsed

    public static let year: RefreshFamilyLifetime = .atMost(.days(365))

    private static let text = "while_used"
    private static let range: ClosedRange<Int64> = 60...315_360_000

    /// Nil when the document does not set it.
    init?(_ members: JSONMembers) throws(JSONFault) {
        guard let value = members.any("refresh_family_lifetime") else { return nil }
        if value.string == Self.text {
            self = .whileUsed
            return
        }
        guard let seconds = value.integer, Self.range.contains(seconds) else {
            throw JSONFault(
                "refresh_family_lifetime",
                "a whole number of seconds from \(Self.range.lowerBound) to \(Self.range.upperBound), "
                    + "or \"\(Self.text)\"")
        }
        self = .atMost(.seconds(seconds))
    }

    /// When the tokens from a sign-in at `start` end together; nil when their use decides.
    package func end(since start: Timestamp) -> Timestamp? {
        switch self {
        case .atMost(let longest): start + longest
        case .whileUsed: nil
        }
    }

    var json: JSON {
        switch self {
        case .atMost(let longest): .integer(longest.seconds)
        case .whileUsed: .string(Self.text)
        }
    }

    /// In milliseconds; nil while they are used.
    init(stored milliseconds: Int64?) { self = milliseconds.map { .atMost(.milliseconds($0)) } ?? .whileUsed }

    var stored: Int64? {
        switch self {
        case .atMost(let longest): longest.milliseconds
        case .whileUsed: nil
        }
    }
}
