import Directory
public import JSON
import Values

/// Which addresses a client may give: none of ours, and one that registers itself, at whom nobody looked, only what people
/// and we can go to.
public struct AddressRules: Sendable {
    private let origin: String?
    private let mayAsk: @Sendable (String) -> Bool

    /// `site` is our own address; `mayAsk` knows whether we could ever ask one.
    public init(site: String, mayAsk: @escaping @Sendable (String) -> Bool) {
        origin = RedirectURI(stored: site).plainOrigin
        self.mayAsk = mayAsk
    }

    /// Where people are sent, or what their browser loads.
    private static let visited = [
        "redirect_uris", "post_logout_redirect_uris", "client_uri", "logo_uri", "policy_uri", "tos_uri",
        "initiate_login_uri",
    ]
    /// Of these, where an app may be met in a scheme of its own.
    private static let returns = ["redirect_uris", "post_logout_redirect_uris"]
    /// What we fetch while somebody waits for it.
    private static let fetched = ["jwks_uri", "sector_identifier_uri", "request_uris"]
    /// What we ask ourselves.
    private static let asked = fetched + ["backchannel_logout_uri"]

    /// Refuses an address of this server in the document of any client. A browser that a page of ours sends there comes
    /// from our own origin, which is how we know a person's wish; and what we asked of ourselves would go round in a circle.
    public func refuseOwn(in document: JSON) throws(JSONFault) {
        for name in Self.visited + Self.asked + ["callback_uri", "web_origins"]
        where Self.texts(document[name]).map(RedirectURI.init(stored:)).contains(where: isOfUs) {
            throw JSONFault(name, "of the client's own, and not of this server")
        }
    }

    /// Checks the addresses of `document`, of a client that registers itself; of which form they are is looked at elsewhere.
    func check(_ document: JSON) throws(JSONFault) {
        try refuseOwn(in: document)
        for name in Self.visited {
            let uris = Self.texts(document[name]).map(RedirectURI.init(stored:))
            // RFC 8252 §7.1: the name of a domain, backwards; else it is anybody's, or one that browsers act on.
            guard !Self.returns.contains(name) || uris.allSatisfy({ $0.isOfWeb || $0.scheme.contains(".") }) else {
                throw JSONFault(name, "https URLs, or in an app's scheme with a period, as com.example.app:/back")
            }
        }
        try refuseUnaskable(Self.asked, in: document)
    }

    /// Refuses an address that this server would have to fetch and never could, in the document of any client: better now
    /// than when somebody waits for it.
    public func refuseUnaskable(in document: JSON) throws(JSONFault) {
        try refuseUnaskable(Self.fetched, in: document)
    }

    private func refuseUnaskable(_ names: [String], in document: JSON) throws(JSONFault) {
        // The fragment of a request_uri is the hash of what is there, and is not sent.
        for name in names
        where !Self.texts(document[name]).allSatisfy({ text in mayAsk(String(text.prefix { $0 != "#" })) }) {
            throw JSONFault(name, "an https URL of a host on the open internet: this server has to ask it")
        }
    }

    private func isOfUs(_ uri: RedirectURI) -> Bool {
        origin != nil && uri.plainOrigin == origin
    }

    private static func texts(_ json: JSON?) -> [String] { json?.strings ?? json?.string.map { [$0] } ?? [] }
}

extension RedirectURI {
    fileprivate var scheme: Substring { text.prefix { $0 != ":" } }

    /// The origin of the page that a browser goes to from here, whatever the spelling; nil for what is not of the web.
    /// Browsers take backslashes for slashes, and any number of them (WHATWG URL §4.4).
    fileprivate var plainOrigin: String? {
        let scheme = scheme.lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let rest = text.dropFirst(scheme.count + 1).drop { $0 == "/" || $0 == "\\" }
        let authority = rest.prefix { !"/\\?#".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        let colon = place.lastIndex(of: ":").flatMap { place[$0...].contains("]") ? nil : $0 }
        guard let host = HostSpelling.plain(place[..<(colon ?? place.endIndex)]) else { return nil }
        let port = colon.map { place[$0...].dropFirst() } ?? ""
        let number = port.isEmpty ? (scheme == "https" ? 443 : 80) : UInt16(port)
        return number.map { "\(scheme)://\(host) \($0)" }
    }
}
