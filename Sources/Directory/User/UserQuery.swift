import Storage
public import Values

/// Which people are asked for, and which part of the list.
public struct UserQuery: Sendable {
    /// One person alone.
    public enum Key: Sendable {
        case user(UserID)
        case email(EmailAddress)
        /// Those whose address begins so, in lower case.
        case emailPrefix(String)
    }

    /// What a person's account is like.
    public enum State: Int, Sendable, CaseIterable {
        case blocked = -2
        case unverified = 0
        case verified = 1
    }

    public var key: Key?
    public var states: Set<State> = [.unverified, .verified]
    public var span = TimeSpan()
    /// Whether `span` is about the last change and not about the beginning.
    public var spansChanges = false
    public var part = ListPart()

    public init() {}
}

/// From when to when, to the second: both are within.
public struct TimeSpan: Sendable, Equatable {
    public var since: Timestamp?
    public var until: Timestamp?

    public init(since: Timestamp? = nil, until: Timestamp? = nil) {
        self.since = since
        self.until = until
    }

    package var start: Timestamp { since ?? Timestamp(milliseconds: 0) }
    /// The first moment after it.
    package var end: Timestamp { until.map { $0 + .seconds(1) } ?? Timestamp(milliseconds: .max) }
    package var isOpen: Bool { since == nil && until == nil }
}

/// A part of a list.
public struct ListPart: Sendable, Equatable {
    public var offset = 0
    public var limit = Self.usual

    public init() {}

    public static let usual = 100
    /// Nobody gets more at once.
    public static let most = 1000
}
