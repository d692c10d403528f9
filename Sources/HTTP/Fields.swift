/// One field line: a name and its value (RFC 9110 §5).
public struct Field: Sendable, Hashable {
    public var name: FieldName
    public var value: String

    public init(name: FieldName, value: String) {
        self.name = name
        self.value = value
    }
}

/// The fields of a message in their order, including repeated ones.
public struct Fields: Sendable, Hashable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
    private var fields: [Field]

    public init() { fields = [] }
    public init(_ fields: [Field]) { self.fields = fields }
    public init(dictionaryLiteral elements: (FieldName, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    public var startIndex: Int { fields.startIndex }
    public var endIndex: Int { fields.endIndex }
    public subscript(position: Int) -> Field { fields[position] }

    /// Looks at each field, without the copy that an iterator makes.
    public func forEach(_ body: (borrowing Field) -> Void) {
        let fields = fields.span
        for index in fields.indices { body(fields[index]) }
    }
    public func allSatisfy(_ condition: (borrowing Field) -> Bool) -> Bool {
        let fields = fields.span
        for index in fields.indices where !condition(fields[index]) { return false }
        return true
    }

    public mutating func append(_ field: Field) { fields.append(field) }
    /// Appends `field`, and makes room for `count` of them if it is the first.
    public mutating func append(_ field: Field, expecting count: Int) {
        if fields.isEmpty { fields.reserveCapacity(count) }
        fields.append(field)
    }
    public mutating func append(contentsOf other: some Sequence<Field>) { fields.append(contentsOf: other) }
    public mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// The value of `name`. Repeated fields are joined (RFC 9110 §5.3, for cookies RFC 9113 §8.2.3). Setting it leaves
    /// one field, or none for nil.
    public subscript(name: FieldName) -> String? {
        get {
            var found: String?
            let fields = fields.span
            for index in fields.indices where fields[index].name == name {
                guard let first = found else {
                    found = fields[index].value
                    continue
                }
                found = first + (name == .cookie ? "; " : ", ") + fields[index].value
            }
            return found
        }
        set {
            guard let newValue else { return fields.removeAll { $0.name == name } }
            guard let index = fields.firstIndex(where: { $0.name == name }) else {
                return fields.append(Field(name: name, value: newValue))
            }
            fields[index].value = newValue
            guard fields[(index + 1)...].contains(where: { $0.name == name }) else { return }
            fields = fields.enumerated().filter { $0.offset <= index || $0.element.name != name }.map(\.element)
        }
    }

    /// Every value of `name`, one for each line.
    public subscript(values name: FieldName) -> [String] {
        fields.compactMap { $0.name == name ? $0.value : nil }
    }

    public func contains(_ name: FieldName) -> Bool {
        let fields = fields.span
        for index in fields.indices where fields[index].name == name { return true }
        return false
    }
}
