import Directory
public import JSON

/// Rules for the URLs of a client: never one of ours. A self-registered client has not been reviewed, so it may only
/// give URLs that users' browsers and this server can reach.
public struct AddressRules: Sendable {
    private let site: WebSite?
    private let mayAsk: @Sendable (String) -> Bool

    /// `site` is our own URL. `mayAsk` tells whether this server could ever fetch a URL.
    public init(site: String, mayAsk: @escaping @Sendable (String) -> Bool) {
        self.site = WebSite(of: site)
        self.mayAsk = mayAsk
    }

    /// The names of this server, which no merchant or client may take: its host, with and without the first label.
    public var ownNames: [String] {
        guard let site else { return ["Spindle"] }
        let labels = site.host.split(separator: ".")
        return ["Spindle", site.host, "\(site.host):\(site.port)"]
            + (labels.count > 2 ? [labels.dropFirst().joined(separator: ".")] : [])
    }

    /// URLs that users are sent to, or that their browser loads.
    private static let visited = [
        "redirect_uris", "post_logout_redirect_uris", "client_uri", "logo_uri", "policy_uri", "tos_uri",
        "initiate_login_uri",
    ]
    /// Those that may have an app's custom scheme.
    private static let returns = ["redirect_uris", "post_logout_redirect_uris"]
    /// URLs that this server fetches while a request waits.
    private static let fetched = ["jwks_uri", "sector_identifier_uri", "request_uris", "events_uri"]
    /// All URLs that this server requests.
    private static let asked = fetched + ["backchannel_logout_uri"]

    /// Refuses a URL of this server in any client's metadata. A browser sent there from our page would come from our
    /// origin, which we take for the user's intent. And a request of ours to ourselves would loop.
    public func refuseOwn(in document: JSON) throws(JSONFault) {
        for name in Self.visited + Self.asked + ["callback_uri", "web_origins"]
        where Self.texts(document[name]).map(RedirectURI.init(stored:)).contains(where: isOfUs) {
            throw JSONFault(name, "the client's own URLs, not this server's")
        }
    }

    /// Refuses `resources` of this server, in any spelling, by http or https: tokens for them would name us as their
    /// audience.
    public func refuseOwn(resources: [String]) throws(JSONFault) {
        guard let site, resources.contains(where: { WebSite(of: $0)?.isSameServer(as: site) == true }) else { return }
        throw JSONFault("resources", "the client's own APIs, not this server's")
    }

    /// Checks the URLs of `document` for a client that registers itself. Their form is checked when the document is
    /// read, by `RedirectURI.init(registering:)` of Directory.
    func check(_ document: JSON) throws(JSONFault) {
        try refuseOwn(in: document)
        for name in Self.visited {
            let uris = Self.texts(document[name]).map(RedirectURI.init(stored:))
            // RFC 8252 §7.1: a reversed domain name. Otherwise any app could claim the scheme, or browsers act on it.
            guard !Self.returns.contains(name) || uris.allSatisfy({ $0.isOfWeb || $0.scheme.contains(".") }) else {
                throw JSONFault(
                    name,
                    "https URLs, or URIs in an app's scheme with a period, such as "
                        + "com.example.app:/back")
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
            throw JSONFault(name, "an https URL at a public host: this server must be able to fetch it")
        }
    }

    private func isOfUs(_ uri: RedirectURI) -> Bool {
        site != nil && WebSite(of: uri.text) == site
    }

    private static func texts(_ json: JSON?) -> [String] { json?.strings ?? json?.string.map { [$0] } ?? [] }
}

extension RedirectURI {
    fileprivate var scheme: Substring { text.prefix { $0 != ":" } }
}
