/// What surrounds a page or a mail: its language, whose it is, and the application that it is shown for.
public struct Frame: Sendable {
    public let language: Language
    public let brand: Brand?
    let application: Application?

    /// - Parameter brand: nil for pages that belong to nobody but this server.
    public init(language: Language, brand: Brand? = nil, application: Application? = nil) {
        self.language = language
        self.brand = brand
        self.application = application
    }
}
