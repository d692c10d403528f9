import Text

/// Pages of a client on the web: all of an origin, or those at one path and below it.
///
/// Only the text is kept: most reads of a client do not need its pages parsed.
public struct WebPages: Sendable, Hashable {
    /// As it was registered.
    public let text: String

    /// Reads an origin, or one with a path. Nil for anything else.
    package init?(registering text: String) {
        // A lone slash counts as no path, and an origin has no path, so that there is one spelling.
        guard let address = PageAddress(text), address.text == text, !address.hasQuery, address.segments != [[]] else {
            return nil
        }
        self.text = text
    }

    /// Stored pages. They were checked when they were registered.
    init(stored text: String) { self.text = text }

    /// The origin alone, for CORS and content policies (RFC 6454 §6.2).
    public var origin: String { String(text[..<originEnd]) }

    var isWholeOrigin: Bool { originEnd == text.endIndex }

    /// At the third slash, where the path begins.
    private var originEnd: String.Index {
        var slashes = 0
        return text.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3
        } ?? text.endIndex
    }

    /// The decoded segments of the path; the last is empty if the path ends with a slash. None for a whole origin.
    private var path: [[UInt8]] {
        guard !isWholeOrigin else { return [] }
        return text.utf8[originEnd...].dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { PercentEncoding.decode($0) ?? Array($0) }
    }

    /// Whether the page at `address` is one of these. `/news` contains itself and `/news/today`, but not `/newspaper`;
    /// `/news/` does not contain `/news`.
    package func contain(_ address: PageAddress) -> Bool {
        guard origin.utf8.elementsEqual(address.origin.utf8) else { return false }
        let path = path
        guard path.last == [] else { return address.segments.starts(with: path) }
        return address.segments.count >= path.count && address.segments.starts(with: path.dropLast())
    }
}

extension Client {
    /// The origins of its web pages, which may ask for the session. A first-party client's may also frame the sign-in.
    public var webOrigins: [String] {
        webPages.reduce(into: []) { if !$0.contains($1.origin) { $0.append($1.origin) } }
    }

    /// The page of the client at the address `text`, without its fragment, or the place in its app. A SPiD-compatible
    /// client need not register the address itself. For browsers that leave, never for codes and tokens.
    package func page(_ text: String) -> RedirectURI? {
        guard may(.varyAddresses), let address = PageAddress(text), webPages.contains(where: { $0.contain(address) })
        else { return appPage(text) }
        return RedirectURI(stored: address.text)
    }

    /// Whether `text` is the address of a page of the client.
    package func isPage(_ text: String) -> Bool { page(text) != nil }
}

extension Client {
    /// The place in the client's app that `text` leads to. It need not be registered itself if a redirect URI with the
    /// same private-use scheme (RFC 8252 §7.1) and authority is. SPiD's SDK for iOS tells where the app continues in
    /// this way. For browsers that leave, never for codes and tokens.
    package func appPage(_ text: String) -> RedirectURI? {
        guard may(.varyAddresses), let page = RedirectURI(registering: text), let place = page.appPlace,
            redirectURIs.contains(where: { $0.appPlace?.elementsEqual(place) == true })
        else { return nil }
        return page
    }
}

extension RedirectURI {
    /// Scheme and authority of an address in an app, as written. Nil for a web address, whose host has an owner, and
    /// for an address without a path to vary.
    var appPlace: Substring.UTF8View? {
        // Apps may read a backslash as a slash, and no URI has the other characters.
        guard !isOfWeb, !text.utf8.contains(where: PageAddress.doubtful.contains),
            let colon = text.firstIndex(of: ":"), !["http", "https"].contains(text[..<colon].lowercased())
        else { return nil }
        let rest = text[colon...].dropFirst()
        guard rest.hasPrefix("//") else { return rest.hasPrefix("/") ? text[..<rest.startIndex].utf8 : nil }
        let authority = rest.dropFirst(2)
        let end = authority.firstIndex { $0 == "/" || $0 == "?" } ?? authority.endIndex
        return text[..<end].utf8
    }
}
