/// Every page that people see. Server-rendered, without JavaScript, readable in a webview.
///
/// A new page is a file beside this one, with its values and its template, and a line here.
public struct Templates: Sendable {
    public let login: Template<LoginPage>
    public let signedIn: Template<SignedInPage>
    public let logout: Template<LogoutPage>
    public let signedOut: Template<SignedOutPage>
    public let consent: Template<ConsentPage>
    public let switchAccount: Template<SwitchAccountPage>
    public let message: Template<MessagePage>

    /// Parses all templates, so that a broken one stops the start and not a visitor.
    public init() throws {
        login = try LoginPage.template
        signedIn = try SignedInPage.template
        logout = try LogoutPage.template
        signedOut = try SignedOutPage.template
        consent = try ConsentPage.template
        switchAccount = try SwitchAccountPage.template
        message = try MessagePage.template
    }
}
