/// A link to terms that a user agrees to by a form. The form sends `uri` along as `terms`: what was shown.
public struct TermsLink: Sendable {
    let uri: String
    let owner: String?

    /// - Parameter owner: whose they are; nil means this server's.
    public init(uri: String, owner: String? = nil) {
        self.uri = uri
        self.owner = owner
    }

    var words: [String: Any] {
        var words: [String: Any] = ["uri": uri]
        words["owner"] = owner
        return words
    }
}
