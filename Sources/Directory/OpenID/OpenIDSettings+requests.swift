import JSON

extension OpenIDSettings {
    /// URLs, each optionally with the hash of its content as the fragment (OpenID Connect Registration §2).
    static func requestURIs(_ members: JSONMembers, isStored: Bool) throws(JSONFault) -> [String] {
        let list = try members.list("request_uris", most: 20) ?? []
        guard !isStored else { return list }
        for text in list {
            let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let hash = parts.count == 2 ? parts[1] : "h"
            guard let first = parts.first, let uri = RedirectURI(registering: String(first)), uri.isOfWeb,
                hash.firstMatch(of: /^[A-Za-z0-9_-]{1,100}$/) != nil
            else { throw JSONFault("request_uris", "https URLs, each optionally with the hash of its content") }
        }
        return list
    }
}
