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
