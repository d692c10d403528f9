import Directory
public import JSON
import Values

/// Rules for the URLs of a client: never one of ours. A client that registers itself has not been reviewed: it may only
/// give URLs that users' browsers and this server can reach.
public struct AddressRules: Sendable {
    private let origin: String?
    private let mayAsk: @Sendable (String) -> Bool

    /// `site` is our own URL. `mayAsk` tells whether this server could ever fetch a URL.
    public init(site: String, mayAsk: @escaping @Sendable (String) -> Bool) {
        origin = RedirectURI(stored: site).plainOrigin
        self.mayAsk = mayAsk
    }

    /// Where users are sent, or what their browser loads.
    private static let visited = [
        "redirect_uris", "post_logout_redirect_uris", "client_uri", "logo_uri", "policy_uri", "tos_uri",
        "initiate_login_uri",
    ]
    /// Those of them that may have an app's own scheme.
    private static let returns = ["redirect_uris", "post_logout_redirect_uris"]
    /// What this server fetches while a request waits for it.
    private static let fetched = ["jwks_uri", "sector_identifier_uri", "request_uris"]
    /// What this server requests.
    private static let asked = fetched + ["backchannel_logout_uri"]

    /// Refuses a URL of this server in any client's metadata. A browser that our page sends there comes from our own
    /// origin, which is how we recognize a user's intent. And a request of ours to ourselves would loop.
    public func refuseOwn(in document: JSON) throws(JSONFault) {
        for name in Self.visited + Self.asked + ["callback_uri", "web_origins"]
        where Self.texts(document[name]).map(RedirectURI.init(stored:)).contains(where: isOfUs) {
            throw JSONFault(name, "of the client's own, and not of this server")
        }
    }

    /// Checks the URLs of `document` for a client that registers itself. Their form is checked elsewhere.
    func check(_ document: JSON) throws(JSONFault) {
        try refuseOwn(in: document)
        for name in Self.visited {
            let uris = Self.texts(document[name]).map(RedirectURI.init(stored:))
            // RFC 8252 §7.1: a reversed domain name. Otherwise any app could have the scheme, or browsers act on it.
            guard !Self.returns.contains(name) || uris.allSatisfy({ $0.isOfWeb || $0.scheme.contains(".") }) else {
                throw JSONFault(name, "https URLs, or in an app's scheme with a period, as com.example.app:/back")
            }
        }
        try refuseUnaskable(Self.asked, in: document)
    }

    /// Refuses, in any client's metadata, a URL that this server must fetch but never could. It is better to fail now
    /// than while a request waits for it.
    public func refuseUnaskable(in document: JSON) throws(JSONFault) {
        try refuseUnaskable(Self.fetched, in: document)
    }

    private func refuseUnaskable(_ names: [String], in document: JSON) throws(JSONFault) {
        // The fragment of a request_uri is the hash of the document, and is not sent.
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

    /// The origin of the page that a browser opens for this URL, however it is spelled; nil for other schemes than the
    /// web's. Browsers treat backslashes as slashes, and accept any number of them (WHATWG URL §4.4).
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
