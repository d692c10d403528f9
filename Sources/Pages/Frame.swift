/// What surrounds a page or a mail: its language, and whose it is.
public struct Frame: Sendable {
    public let language: Language
    public let brand: Brand?

    /// - Parameter brand: nil for pages that belong to nobody but this server.
    public init(language: Language, brand: Brand? = nil) {
        self.language = language
        self.brand = brand
    }
}
