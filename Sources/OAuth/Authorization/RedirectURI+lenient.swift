import Directory

extension Client {
    /// Whether `text` in a token request stands for `uri`, which the code is bound to. Compares exactly, except for
    /// SPiD's clients.
    ///
    /// SPiD's clients change the query: they append the response's code or drop their own parameters. The browser has
    /// already been redirected to the exact address, so theirs are compared without query and trailing slash.
    func means(_ uri: RedirectURI, by text: String) -> Bool {
        guard may(.varyAddresses) else { return uri.isExactly(text) }
        return RedirectURI.stem(of: uri.text).elementsEqual(RedirectURI.stem(of: text))
    }
}

extension RedirectURI {
    fileprivate static func stem(of text: String) -> Substring.UTF8View {
        let stem = text.prefix { $0 != "?" }
        return (stem.hasSuffix("/") ? stem.dropLast() : stem).utf8
    }
}
