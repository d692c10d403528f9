package import JSON

/// The claim `address` (OpenID Connect Core §5.1.1).
package enum PostalAddress {
    package static let claim = "address"
    /// The two members that may have several lines come first.
    private static let parts = ["formatted", "street_address", "locality", "region", "postal_code", "country"]
    private static let expected =
        "an object of \(parts.joined(separator: ", ")), each a text of 1 to \(User.longestClaim) bytes"

    /// The address in `document`; nil when it has none.
    package static func read(_ document: JSONMembers) throws(JSONFault) -> JSON? {
        guard let json = document.any(claim) else { return nil }
        guard let members = json.members, !members.isEmpty, members.allSatisfy(isPart) else {
            throw JSONFault(claim, expected)
        }
        return json
    }

    private static func isPart(_ member: JSON.Member) -> Bool {
        guard let place = parts.firstIndex(of: member.name), let text = member.value.string,
            (1...User.longestClaim).contains(text.utf8.count)
        else { return false }
        return !text.unicodeScalars.contains { scalar in
            let isLineBreak = scalar == "\n" || scalar == "\r"
            return (scalar.value < 0x20 || scalar.value == 0x7F) && !(isLineBreak && place < 2)
        }
    }
}
