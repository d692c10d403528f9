/// Asks which of the users signed in to this browser continues, or whether another one does.
///
/// Posts `form_token`, `request` and either `session`, that of the chosen user, or `decision=another` to `action`.
public struct PickPage: PageContents {
    /// One user who is signed in.
    public struct Choice: Sendable {
        let session: String
        let name: String
        let address: String

        /// - Parameters: `name` is nil for a user without one. `address` is the user's e-mail address, which tells
        ///   users with the same name apart.
        public init(session: String, name: String?, address: String) {
            self.session = session
            self.name = name ?? address
            self.address = address
        }

        var words: [String: Any] {
            ["session": session, "name": name, "address": address, "hasAddress": name != address]
        }
    }

    let clientName: String
    let choices: [Choice]
    let action: String
    let formToken: String
    let request: String
    let cancel: LoginPage.Cancel?

    /// - Parameter cancel: the way back to the application without a sign-in.
    public init(
        clientName: String, choices: [Choice], action: String, formToken: String, request: String,
        cancel: LoginPage.Cancel? = nil
    ) {
        self.clientName = clientName
        self.choices = choices
        self.action = action
        self.formToken = formToken
        self.request = request
        self.cancel = cancel
    }

    func words(_ texts: Texts) -> [String: Any] { ["choices": choices.map(\.words)] }
}
