/// What a page gives its template besides its stored members.
protocol PageContents: Sendable {
    /// Why the last attempt was refused; a template sees it as `refusal`.
    var refusal: PageRefusal? { get }

    /// Texts that depend on the page's values. They hide members of the same name.
    func words(_ texts: Texts) -> [String: Any]
}

extension PageContents {
    var refusal: PageRefusal? { nil }

    func words(_ texts: Texts) -> [String: Any] {
        guard let refusal else { return [:] }
        return ["refusal": refusal.words(texts)]
    }
}
