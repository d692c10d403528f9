/// Says that the user is signed out, of the browser or of one application.
public struct SignedOutPage: PageContents {
    let leaving: String?

    /// - Parameter leaving: the only application; nil for the browser.
    public init(leaving: String? = nil) { self.leaving = leaving }
}
