public import JSON
public import Values

extension Identifier<Client> {
    /// An id that an administrator chooses. It appears in URLs, headers and logs, so only the characters of our own ids
    /// are allowed. The `sub` of a client's own tokens is its id, and must not be a user's (RFC 9068 §5).
    /// - Parameter member: what the refusal names.
    public init(chosen text: String, in member: String) throws(JSONFault) {
        guard text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]{2,99}/) != nil else {
            throw JSONFault(member, "3 to 100 of letters, digits, `.`, `_` and `-`, the first a letter or digit")
        }
        guard UserID(text) == nil, !UserUUID.hasForm(text) else { throw JSONFault(member, "no number and no UUID") }
        self.init(text)
    }
}
