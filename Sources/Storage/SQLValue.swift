public import Values

/// The content of a column in the portable subset: NULL, BIGINT or TEXT.
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
}

/// A value that can be bound to a statement.
public protocol SQLBindable {
    var sqlValue: SQLValue { get }
}

/// A value that can be read from a column.
public protocol SQLReadable {
    /// Throws `StorageError.unreadable` when the column contains something else.
    init(sqlValue: SQLValue) throws
}

public typealias SQLConvertible = SQLBindable & SQLReadable

extension String: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .text(self) }
    @inlinable
    public init(sqlValue: SQLValue) throws {
        guard case .text(let text) = sqlValue else { throw StorageError.unreadable("expected TEXT, found \(sqlValue)") }
        self = text
    }
}

extension Int64: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .integer(self) }
    @inlinable
    public init(sqlValue: SQLValue) throws {
        guard case .integer(let number) = sqlValue else {
            throw StorageError.unreadable("expected BIGINT, found \(sqlValue)")
        }
        self = number
    }
}

extension Int: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .integer(Int64(self)) }
    @inlinable
    public init(sqlValue: SQLValue) throws { self = Int(try Int64(sqlValue: sqlValue)) }
}

extension Bool: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
    @inlinable
    public init(sqlValue: SQLValue) throws { self = try Int64(sqlValue: sqlValue) != 0 }
}

extension Optional: SQLReadable where Wrapped: SQLReadable {
    @inlinable
    public init(sqlValue: SQLValue) throws {
        self = if case .null = sqlValue { nil } else { try Wrapped(sqlValue: sqlValue) }
    }
}

extension Timestamp: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .integer(milliseconds) }
    @inlinable
    public init(sqlValue: SQLValue) throws { self.init(milliseconds: try Int64(sqlValue: sqlValue)) }
}

extension UserID: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .integer(number) }
    @inlinable
    public init(sqlValue: SQLValue) throws { self.init(try Int64(sqlValue: sqlValue)) }
}

extension Identifier: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .text(text) }
    @inlinable
    public init(sqlValue: SQLValue) throws { self.init(try String(sqlValue: sqlValue)) }
}

extension Fingerprint: SQLConvertible {
    @inlinable public var sqlValue: SQLValue { .text(text) }
    @inlinable
    public init(sqlValue: SQLValue) throws { self.init(text: try String(sqlValue: sqlValue)) }
}
