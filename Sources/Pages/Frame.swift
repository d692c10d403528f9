/// What surrounds a page or a mail: its language, its brand, and the application that it is shown for.
public struct Frame: Sendable {
    public let language: Language
    public let brand: Brand?
    let application: Application?

    /// - Parameter brand: nil for pages of this server itself.
    public init(language: Language, brand: Brand? = nil, application: Application? = nil) {
        self.language = language
        self.brand = brand
        self.application = application
    }
}
