package import JSON

/// Changes to a user's attributes by a document: each named one is set to a text or a list of texts, or removed by
/// null. The others stay (RFC 7396).
package struct AttributeChanges: Sendable {
    package static let most = 50
    private static let longestName = 100
    private static let longestText = 500
    private static let longestList = 200
    /// In bytes of JSON, all together: lists of users contain many.
    package static let longest = 64 * 1024
    private static let expected =
        "an object: at most \(most) names of 1 to \(longestName) bytes, each with a text of at most \(longestText) "
        + "bytes, a list of at most \(longestList) such texts, or null"

    private let members: [JSON.Member]
    private let replacesAll: Bool

    /// Nil when `document` has no attributes. Null in place of the object removes them all.
    package init?(_ document: JSONMembers) throws(JSONFault) {
        guard document.has("attributes") else { return nil }
        let json = document.any("attributes")
        replacesAll = json == nil
        members = json?.members ?? []
        guard json?.members != nil || json == nil, members.count <= Self.most, members.allSatisfy(Self.isOne) else {
            throw JSONFault("attributes", Self.expected)
        }
    }

    /// The attributes after the change. Throws when there would be more than `most`.
    package func applied(to attributes: JSON = .object([])) throws(JSONFault) -> JSON {
        let named = Set(members.map(\.name))
        let kept = replacesAll ? [] : (attributes.members ?? []).filter { !named.contains($0.name) }
        let all = kept + members.filter { $0.value != .null }
        guard all.count <= Self.most else { throw JSONFault("attributes", Self.expected) }
        let length = JSON.object(all).text.utf8.count
        // A user with more from before this limit may remove some.
        guard length <= Self.longest || length < attributes.text.utf8.count else {
            throw JSONFault("attributes", "at most \(Self.longest) bytes as JSON, including existing ones")
        }
        return .object(all)
    }

    private static func isOne(_ member: JSON.Member) -> Bool {
        guard isText(member.name, most: longestName), !member.name.isEmpty else { return false }
        if member.value == .null { return true }
        if let text = member.value.string { return isText(text, most: longestText) }
        guard let list = member.value.strings, list.count <= longestList else { return false }
        return list.allSatisfy { isText($0, most: longestText) }
    }

    private static func isText(_ text: String, most: Int) -> Bool {
        text.utf8.count <= most && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }
}
