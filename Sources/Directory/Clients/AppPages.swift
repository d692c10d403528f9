extension Client {
    /// The place in the client's app that `text` leads to: it need not be registered itself if a redirect URI of the
    /// same private-use scheme (RFC 8252 §7.1) and authority is. SPiD's SDK for iOS says so where the app goes on. It
    /// is for browsers that leave, never for codes and tokens.
    package func appPage(_ text: String) -> RedirectURI? {
        guard may(.varyAddresses), let page = RedirectURI(registering: text), let place = page.appPlace,
            redirectURIs.contains(where: { $0.appPlace?.elementsEqual(place) == true })
        else { return nil }
        return page
    }
}

extension RedirectURI {
    /// Scheme and authority of an address in an app, as they are written. Nil for a web address, which has an owner of
    /// its own, and for what has no path to vary.
    var appPlace: Substring.UTF8View? {
        // Apps may read a backslash as a slash, and no URI has the others.
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
