import JSON

extension OpenIDSettings {
    /// Where the client's keys are; nil when the document has neither `jwks` nor `jwks_uri`.
    static func keys(_ members: JSONMembers, isStored: Bool) throws(JSONFault) -> Keys? {
        guard members.has("jwks") || members.has("jwks_uri") else { return nil }
        let address = try address(members, "jwks_uri")
        guard let keySet = members.any("jwks") else { return address.map { .address($0) } ?? Keys.none }
        // RFC 7591 §2: they must not both be present.
        guard address == nil else { throw JSONFault("jwks", "left out beside jwks_uri") }
        return .keySet(try RegisteredKeySet(keySet, isStored: isStored))
    }
}
