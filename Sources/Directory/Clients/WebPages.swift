/// Pages of a client on the web: all of an origin, or those at one path and below it.
public struct WebPages: Sendable, Hashable {
    /// As it was registered.
    public let text: String
    /// The origin alone, which CORS and content policies know (RFC 6454 §6.2).
    public let origin: String
    /// The segments of the path, of which the last is empty if it ends with a slash. None for a whole origin.
    private let path: [[UInt8]]

    /// Reads an origin, or one with a path. Nil for anything else.
    package init?(registering text: String) {
        // A slash alone is no path, and an origin has none: there is one way to write it.
        guard let address = PageAddress(text), address.text == text, !address.hasQuery, address.segments != [[]] else {
            return nil
        }
        self.text = text
        origin = address.origin
        path = address.segments
    }

    /// Pages that were registered before.
    init(stored text: String) {
        let address = PageAddress(text)
        self.text = text
        origin = address?.origin ?? text
        path = address?.segments ?? []
    }

    var isWholeOrigin: Bool { path.isEmpty }

    /// Whether the page at `address` is one of these. `/news` contains itself and `/news/today`, but not `/newspaper`;
    /// `/news/` does not contain `/news`.
    package func contain(_ address: PageAddress) -> Bool {
        guard origin.utf8.elementsEqual(address.origin.utf8) else { return false }
        guard path.last == [] else { return address.segments.starts(with: path) }
        return address.segments.count >= path.count && address.segments.starts(with: path.dropLast())
    }
}

extension Client {
    /// The origins of its web pages, which may ask for the session. Those of a first-party client may also frame the
    /// sign-in.
    public var webOrigins: [String] {
        webPages.reduce(into: []) { if !$0.contains($1.origin) { $0.append($1.origin) } }
    }

    /// The page of the client that `text` is the address of, without its fragment, or the place in its app. A
    /// SPiD-compatible client need not register such an address itself. It is for browsers that leave, never for codes
    /// and tokens.
    package func page(_ text: String) -> RedirectURI? {
        guard spidCompatible, let address = PageAddress(text), webPages.contains(where: { $0.contain(address) }) else {
            return appPage(text)
        }
        return RedirectURI(stored: address.text)
    }

    /// Whether `text` is the address of a page of the client.
    package func isPage(_ text: String) -> Bool { page(text) != nil }
}
