/// The owner of the pages: the content of the header, and a stylesheet with the owner's colours.
public struct Brand: Sendable {
    public let name: String
    let logoURI: String?
    let stylesheet: String?

    /// - Parameter stylesheet: the path of `Stylesheet.brand(accent:)`.
    public init(name: String, logoURI: String? = nil, stylesheet: String? = nil) {
        self.name = name
        self.logoURI = logoURI
        self.stylesheet = stylesheet
    }
}
