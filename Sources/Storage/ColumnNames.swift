/// The column names of a result: one object for all results of a prepared statement.
public final class ColumnNames: Sendable {
    private let names: [String]
    /// The length, first and last byte of each name as one number, which nearly always tells names apart.
    private let marks: [Int]

    public init(_ names: [String]) {
        self.names = names
        marks = names.map(Self.mark)
    }

    public var count: Int { names.count }

    /// The index of `name`; the first one if several columns have it.
    public func index(of name: String) -> Int? {
        let mark = Self.mark(name)
        for index in marks.indices where marks[index] == mark && names[index] == name { return index }
        return nil
    }

    private static func mark(_ name: String) -> Int {
        let bytes = name.utf8.span
        guard bytes.count > 0 else { return 0 }
        return bytes.count << 16 | Int(bytes[0]) << 8 | Int(bytes[bytes.count - 1])
    }
}
