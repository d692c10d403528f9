/// Facts that a deployment stores about itself: one value for each name.
public enum Facts {
    public static let table = StoredTable("facts")

    public static func value<Value: SQLReadable>(of name: String, in db: any Transaction) throws -> Value? {
        try db.rows("SELECT value FROM facts WHERE name = \(name)").first?.get("value")
    }

    /// A condition for another statement: the fact has no value yet, or has `value`.
    public static func isNotOther(than value: some SQLBindable, _ name: String) -> SQL {
        "NOT EXISTS (SELECT 1 FROM facts WHERE name = \(name) AND value <> \(value))"
    }

    /// Stores `value` unless there is one. Of concurrent writers the first wins; `value(of:in:)` returns its value.
    public static func note(_ value: some SQLBindable, as name: String, in db: any Transaction) throws {
        try db.execute("INSERT INTO facts (name, value) VALUES (\(name), \(value)) ON CONFLICT (name) DO NOTHING")
    }

    /// Stores `value` in place of the previous one.
    public static func replace(_ value: some SQLBindable, as name: String, in db: any Transaction) throws {
        try db.execute("UPDATE facts SET value = \(value) WHERE name = \(name)")
    }
}
