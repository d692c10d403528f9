package import Authentication
package import Directory
package import HTTP
package import OAuth
package import Values

/// Where a sign-in goes on to: an app's request that waits, or a page of ours. Nothing else is ever redirected to.
package enum Destination: Sendable {
    case request(Interaction)
    case page(OwnPage)
    /// Back to the app that signed somebody up.
    case app(AppReturn.Address)

    /// What pages carry as `continue`, and what is kept with a mail: an interaction's id or a path of ours.
    package var text: String {
        switch self {
        case .request(let interaction): interaction.id.value
        case .page(let page): page.rawValue
        case .app(let address): address.path
        }
    }

    /// The path that leads there.
    package var path: String {
        if case .request(let interaction) = self { PagePath.authorize(interaction.id) } else { text }
    }

    /// The app that waits there.
    package var client: Client.ID? {
        switch self {
        case .request(let interaction): interaction.client
        case .page: nil
        case .app(let address): address.client
        }
    }

    package var interaction: Interaction? { if case .request(let interaction) = self { interaction } else { nil } }
}

/// The pages of ours that ask for a sign-in and go on after it.
package enum OwnPage: String, CaseIterable, Sendable {
    case account = "/account"
    /// Where a sign-in that only confirms leads back to: the person then says again what they wanted.
    case confirmed = "/account?done=confirmed"
    case data = "/account/data"
    case deletion = "/account/delete"
    case addressCheck = "/account/email/check"
    case verification = "/verify"
}

/// An id under which nothing is kept for this browser: its time is over, it is another browser's, or it was edited.
package struct InteractionGone: Error {
    package init() {}
}

extension PageRenderer {
    /// Where `text` of a form or an address leads in the browser of `http`; nil when it names nothing of ours.
    ///
    /// Throws `InteractionGone`.
    package func destination(_ text: String?, _ http: Request) async throws -> Destination? {
        guard let text else { return nil }
        if let page = OwnPage(rawValue: text) { return .page(page) }
        guard let id = Interaction.ID(carried: text) else { return nil }
        return .request(try await interaction(id, http))
    }

    /// The interaction of this id, if it is this browser's.
    package func interaction(_ id: Interaction.ID, _ http: Request) async throws -> Interaction {
        guard let found = try await interactions.find(id, in: forms.browser(http)?.ofInteraction) else {
            throw InteractionGone()
        }
        return found
    }

    /// Keeps a request that waits for as long as a mail is good for `purpose`, which leads back to it.
    package func keep(_ destination: Destination?, for purpose: Verification.Purpose) async throws {
        guard let interaction = destination?.interaction, let lifetime = purpose.linkLifetime else { return }
        try await interactions.keep(interaction, for: lifetime)
    }

    /// Where a mail led to which `verification` belongs. Its secret opens the way in any browser; a request that is over by
    /// now leads nowhere.
    package func destination(of verification: Verification) async throws -> Destination? {
        let text = verification.continueTo
        if let page = OwnPage(rawValue: text) { return .page(page) }
        let address = AppReturn.Address(text)
        guard let id = address?.interaction ?? Interaction.ID(carried: text) else { return address.map { .app($0) } }
        return try await interactions.find(id).map { .request($0) } ?? address.map { .app($0) }
    }

    /// The visit of who opens a mailed link: it goes on to what its mail was asked for at, in whatever browser.
    package func visit(_ request: Request, of verification: Verification) async throws -> PageContext {
        try await visit(request, to: try await destination(of: verification))
    }
}

extension Fingerprint<Browser> {
    /// The same browser, as OAuth knows it.
    package var ofInteraction: Fingerprint<Interaction.Browser> { Fingerprint<Interaction.Browser>(text: text) }
}

extension Interaction {
    /// The parameters of the request.
    package var form: Form { (try? Form.parse(request)) ?? Form(pairs: []) }
}
