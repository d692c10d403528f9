import Text
public import Values

/// The sender of our mails: an address, and perhaps a display name.
public struct Sender: Sendable, Hashable, CustomStringConvertible {
    public let name: String?
    public let address: MailAddress

    public init(name: String? = nil, address: MailAddress) {
        self.name = name
        self.address = address
    }

    /// Reads `address`, or `Name <address>`; nil for anything else.
    public init?(_ text: String) {
        guard text.hasSuffix(">") else {
            guard let address = MailAddress(text) else { return nil }
            self.init(address: address)
            return
        }
        guard let start = text.lastIndex(of: "<"),
            let address = MailAddress(String(text[text.index(after: start)...].dropLast()))
        else { return nil }
        let name = String(text[..<start].trimming(while: \.isWhitespace))
        let isName = !name.unicodeScalars.contains {
            $0.value < 0x20 || $0.value == 0x7F || "<>\"\\".unicodeScalars.contains($0)
        }
        guard isName, name.utf8.count <= 100 else { return nil }
        self.init(name: name.isEmpty ? nil : name, address: address)
    }

    public var description: String { name.map { "\($0) <\(address)>" } ?? address.description }
}
