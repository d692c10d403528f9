import Cryptography

/// Where a page of a list ended, as a text that is valid only for the rest of that list.
public struct ListCursor: Sendable {
    private let list: String

    /// The cursors of the list at `path` with these `filters`.
    public init(of path: String, filters: [(name: String, value: String)] = []) {
        let filters = filters.sorted { $0.name < $1.name }.map { "\($0.name)=\($0.value)" }
        list = ([path] + filters).joined(separator: "\n")
    }

    /// The cursor after the item at `position`, which is printable ASCII.
    public func text(after position: String) -> String {
        Base64URL.encode(checksum(of: position) + Array(position.utf8))
    }

    /// The position of the item before the rest of the list. Nil for any other text: damaged, or from another list.
    /// This detects mistakes, not attackers, who gain nothing by making up a position.
    public func position(of text: String) -> String? {
        guard let bytes = Base64URL.decode(text), bytes.count > Self.checksumLength else { return nil }
        guard bytes.dropFirst(Self.checksumLength).allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let position = String(decoding: bytes.dropFirst(Self.checksumLength), as: UTF8.self)
        return bytes.starts(with: checksum(of: position)) ? position : nil
    }

    private static let checksumLength = 6

    private func checksum(of position: String) -> [UInt8] {
        Array(Digest.sha256(Array("\(list)\n\n\(position)".utf8)).prefix(Self.checksumLength))
    }
}
