/// What a deployment remembers of itself: one value by its name.
public enum Facts {
    public static let table = StoredTable("facts")

    public static func value<Value: SQLReadable>(of name: String, in db: any Transaction) throws -> Value? {
        try db.rows("SELECT value FROM facts WHERE name = \(name)").first?.get("value")
    }

    /// Remembers `value` unless there is one: of several at once the first is kept, which `value(of:in:)` tells.
    public static func note(_ value: some SQLBindable, as name: String, in db: any Transaction) throws {
        try db.execute("INSERT INTO facts (name, value) VALUES (\(name), \(value)) ON CONFLICT (name) DO NOTHING")
    }

    /// Remembers `value` in place of the one before it.
    public static func replace(_ value: some SQLBindable, as name: String, in db: any Transaction) throws {
        try db.execute("UPDATE facts SET value = \(value) WHERE name = \(name)")
    }
}
