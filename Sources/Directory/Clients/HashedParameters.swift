import JSON

/// The parameters of a POST as SPiD's verified hash reads them: a nested parameter (`items[0][price]`) belongs to the
/// level of its name. The values are joined level by level in the natural order of the names.
///
/// A class, so that a level with many parameters grows in place and is never copied.
final class HashedParameters {
    private enum Value {
        case text(String)
        case level(HashedParameters)
    }

    /// In the order of their first occurrence.
    private var names: [String] = []
    private var values: [String: Value] = [:]

    /// No real request nests deeper. A name that does is taken as a plain name.
    private static let mostLevels = 64

    /// The two texts that a client may have hashed, made lazily. PHP's SDK hashes the members of a nested value, but
    /// sends the value as JSON. A client that encodes the value first hashes the JSON text.
    static func texts(of pairs: [(name: String, value: String)]) -> some Sequence<String> {
        [false, true].lazy.map { HashedParameters(pairs, unfoldingJSON: $0).text }
    }

    private init() {}

    private init(_ pairs: [(name: String, value: String)], unfoldingJSON: Bool) {
        for (name, value) in pairs {
            set(Self.path(name)[...], unfoldingJSON ? Self.unfolded(value) : .text(value))
        }
    }

    private init(_ members: [(name: String, value: Value)]) {
        for (name, value) in members { set([name], value) }
    }

    /// If a name is repeated, its last value counts.
    private func set(_ path: ArraySlice<String>, _ value: Value) {
        guard let first = path.first else { return }
        // An empty name is the next item of a list.
        let name = first.isEmpty ? String(names.count) : first
        let rest = path.dropFirst()
        if values[name] == nil { names.append(name) }
        guard !rest.isEmpty else { return values[name] = value }
        if case .level(let known) = values[name] { return known.set(rest, value) }
        let level = HashedParameters()
        level.set(rest, value)
        values[name] = .level(level)
    }

    private var text: String {
        names.enumerated().sorted { left, right in
            let order = NaturalOrder.compare(left.element, right.element)
            return order == 0 ? left.offset < right.offset : order < 0
        }.map { _, name in
            switch values[name] {
            case .text(let text): text
            case .level(let level): level.text
            case nil: ""
            }
        }.joined()
    }

    /// `a[b][]` is `a`, `b` and an empty name. A malformed name is one name.
    private static func path(_ name: String) -> [String] {
        guard name.hasSuffix("]"), let bracket = name.firstIndex(of: "["), bracket > name.startIndex else {
            return [name]
        }
        let inner = name[name.index(after: bracket)...].dropLast()
            .split(separator: "][", omittingEmptySubsequences: false).map(String.init)
        guard inner.count < mostLevels, !inner.contains(where: { $0.contains("[") || $0.contains("]") }) else {
            return [name]
        }
        return [String(name[..<bracket])] + inner
    }

    private static func unfolded(_ text: String) -> Value {
        guard text.hasPrefix("{") || text.hasPrefix("["), let json = try? JSON(parsing: Array(text.utf8)) else {
            return .text(text)
        }
        return value(json)
    }

    /// The value as PHP converts it to text.
    private static func value(_ json: JSON) -> Value {
        switch json {
        case .object(let members): .level(HashedParameters(members.map { ($0.name, value($0.value)) }))
        case .array(let values): .level(HashedParameters(values.enumerated().map { ("\($0)", value($1)) }))
        case .string(let text): .text(text)
        case .bool(let flag): .text(flag ? "1" : "")
        case .null: .text("")
        case .integer, .number: .text(json.text)
        }
    }
}
