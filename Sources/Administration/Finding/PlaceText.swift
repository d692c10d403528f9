import Cryptography

/// A text within a place of a list, whose cursor holds no blanks and no stop but its own.
enum PlaceText {
    static func write(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

    static func read(_ text: some StringProtocol) -> String? {
        Base64URL.decode(String(text)).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

/// The place of an item in a list of names, or of ids alone.
public struct NamePlace: Sendable {
    public let id: String
    public let name: String

    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// Reads what `text(named:)` wrote.
    public init?(_ text: String, named: Bool) {
        guard named else {
            self.init(id: text, name: "")
            return
        }
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let name = PlaceText.read(parts[0]) else { return nil }
        self.init(id: String(parts[1]), name: name)
    }

    /// The place of an item that is found by its id alone, which may hold anything.
    public static func ofText(_ id: String) -> String { Hexadecimal.encode(Array(id.utf8)) }

    public func text(named: Bool) -> String { named ? "\(PlaceText.write(name)).\(id)" : id }
}
