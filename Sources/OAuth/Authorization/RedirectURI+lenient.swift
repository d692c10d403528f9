import Directory

extension Client {
    /// Whether `text`, in a token request, stands for `uri`, which the code was bound to: to the letter.
    ///
    /// SPiD's clients say it with another query than they said it with before, one with the answer's code appended, one
    /// with its own left out. Where the browser went was decided by then, and exactly: theirs are compared without query
    /// and without a slash at the end.
    func means(_ uri: RedirectURI, by text: String) -> Bool {
        guard spidCompatible else { return uri.isExactly(text) }
        return RedirectURI.stem(of: uri.text).elementsEqual(RedirectURI.stem(of: text))
    }
}

extension RedirectURI {
    fileprivate static func stem(of text: String) -> Substring.UTF8View {
        let stem = text.prefix { $0 != "?" }
        return (stem.hasSuffix("/") ? stem.dropLast() : stem).utf8
    }
}
