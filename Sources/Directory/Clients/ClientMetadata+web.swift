import JSON

/// A client's web addresses.
extension ClientMetadata {
    static func webPages(_ members: JSONMembers) throws(JSONFault) -> [WebPages]? {
        guard let list = try members.list("web_origins") else { return nil }
        return try list.map { text throws(JSONFault) in
            guard let pages = WebPages(registering: text) else {
                throw JSONFault(
                    "web_origins",
                    "origins such as https://www.example.com: in lower case, no default port, no slash at the end; "
                        + "for a client with spid_compatible each perhaps with a path, as https://www.example.com/news")
            }
            return pages
        }
    }

    static func callbackURI(_ members: JSONMembers, _ base: Client?) throws(JSONFault) -> String? {
        try address(members, "callback_uri", base?.callbackURI)
    }

    /// RFC 7591 §2 `tos_uri`.
    static func termsURI(_ members: JSONMembers, _ base: Client?) throws(JSONFault) -> String? {
        try address(members, "tos_uri", base?.termsURI)
    }

    /// An https URL, or an http one to this machine; null removes it.
    private static func address(
        _ members: JSONMembers, _ name: String, _ known: String?
    ) throws(JSONFault) -> String? {
        guard members.has(name) else { return known }
        guard let text = try members.text(name, most: 2000) else { return nil }
        guard let uri = RedirectURI(registering: text),
            uri.text.hasPrefix("https://") || uri.text.hasPrefix("http://")
        else { throw JSONFault(name, "an https URL, or null") }
        return text
    }
}
