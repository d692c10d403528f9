import Storage
public import Values

/// Which users are asked for, and which part of the list.
public struct UserQuery: Sendable {
    /// Which user or users to look for.
    public enum Key: Sendable {
        case user(UserID)
        case email(EmailAddress)
        /// Users whose address begins with this text, in lower case.
        case emailPrefix(String)

        /// Whether it names one user at most.
        public var isOfOne: Bool { if case .emailPrefix = self { false } else { true } }
    }

    /// The state of a user.
    public enum State: Int, Sendable, CaseIterable {
        case blocked = -2
        case unverified = 0
        case verified = 1
    }

    public var key: Key?
    public var states: Set<State> = [.unverified, .verified]
    public var span = TimeSpan()
    /// Whether `span` refers to the last change instead of the creation.
    public var spansChanges = false
    public var part = ListPart()

    public init() {}
}

/// A span of time, to the second, including both ends.
public struct TimeSpan: Sendable, Equatable {
    public var since: Timestamp?
    public var until: Timestamp?

    public init(since: Timestamp? = nil, until: Timestamp? = nil) {
        self.since = since
        self.until = until
    }

    package var start: Timestamp { since ?? Timestamp(milliseconds: 0) }
    /// The first moment after the span.
    package var end: Timestamp { until.map { $0 + .seconds(1) } ?? Timestamp(milliseconds: .max) }
    package var isOpen: Bool { since == nil && until == nil }
}

/// A part of a list.
public struct ListPart: Sendable, Equatable {
    public var offset = 0
    public var limit = Self.usual

    public init() {}

    public static let usual = 100
    /// The most items in one answer.
    public static let most = 1000
    /// The most items before the part, because each of them is read.
    public static let mostBefore = 100_000

    /// The number of items up to the end of the part.
    package var end: Int { offset + limit }
}
