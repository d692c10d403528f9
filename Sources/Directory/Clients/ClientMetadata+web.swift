import JSON

/// A client's web addresses.
extension ClientMetadata {
    /// The most bytes of all its address lists together, because every use of a client reads all of it.
    static let mostAddressBytes = 64 * 1024

    /// A client that had more before this rule may keep or shorten its lists.
    func checkAddresses(over base: Client?) throws(JSONFault) {
        let lists = Self.addressBytes(redirectURIs, postLogoutRedirectURIs, webPages, openID, spid)
        let former =
            base.map {
                Self.addressBytes($0.redirectURIs, $0.postLogoutRedirectURIs, $0.webPages, $0.openID, $0.spid)
            } ?? [:]
        let bytes = lists.values.reduce(0, +)
        guard bytes > Self.mostAddressBytes, bytes > former.values.reduce(0, +),
            let member = lists.keys.sorted().first(where: { lists[$0, default: 0] > former[$0, default: 0] })
        else { return }
        throw JSONFault(
            member,
            "shorter: all lists of addresses of a client have at most \(Self.mostAddressBytes) bytes together")
    }

    /// The bytes of each list, by its member.
    private static func addressBytes(
        _ redirectURIs: [RedirectURI], _ logoutURIs: [RedirectURI], _ pages: [WebPages], _ openID: OpenIDSettings,
        _ spid: SPiDSettings
    ) -> [String: Int] {
        let lists: [String: [String]] = [
            "redirect_uris": redirectURIs.map(\.text), "post_logout_redirect_uris": logoutURIs.map(\.text),
            "web_origins": pages.map(\.text), "request_uris": openID.requestURIs, "resources": openID.resources,
            "session_hosts": spid.sessionHosts,
            "contacts": openID.information.first { $0.name == "contacts" }?.value.strings ?? [],
        ]
        return lists.mapValues { list in list.reduce(0) { $0 + $1.utf8.count } }
    }

    static func webPages(_ members: JSONMembers) throws(JSONFault) -> [WebPages]? {
        guard let list = try members.list("web_origins") else { return nil }
        return try list.map { text throws(JSONFault) in
            guard let pages = WebPages(registering: text) else {
                throw JSONFault(
                    "web_origins",
                    "origins such as https://www.example.com: in lower case, no default port, no slash at the end; "
                        + "for a client with spid_compatible optionally with a path, such as "
                        + "https://www.example.com/news")
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
        else { throw JSONFault(name, "an https URL, or an http one to localhost, 127.0.0.0/8 or ::1, or null") }
        return text
    }
}
