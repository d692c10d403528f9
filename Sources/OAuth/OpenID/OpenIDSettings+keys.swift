import JOSE

extension OpenIDSettings {
    /// Where the client's keys are, if the document says anything of it.
    static func keys(_ members: JSONMembers) throws(JSONFault) -> Keys? {
        guard members.has("jwks") || members.has("jwks_uri") else { return nil }
        let address = try address(members, "jwks_uri")
        guard let keySet = members.any("jwks") else { return address.map { .address($0) } ?? Keys.none }
        // RFC 7591 §2: they must not both be there.
        guard address == nil else { throw JSONFault("jwks", "left out beside jwks_uri") }
        // A private key that was pasted by mistake must not come to lie in our database.
        let members = (keySet["keys"]?.array ?? []).flatMap { $0.members ?? [] }
        guard !members.contains(where: { secrets.contains($0.name) }) else {
            throw JSONFault("jwks", "a set of public keys only; it holds a private or symmetric one")
        }
        guard let keys = try? AssertionKeys(keySet: keySet.text), !keys.isEmpty else {
            throw JSONFault("jwks", "a JWK set with a public key for signatures")
        }
        return .keySet(keySet.text)
    }

    /// The members of a JWK that only its owner may know (RFC 7518 §6).
    private static let secrets: Set = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
}
