package import Authentication
package import Directory
package import HTTP
package import OAuth
package import Values

/// Where a sign-in continues: a waiting app's request, or a page of ours. The browser is never redirected elsewhere.
package enum Destination: Sendable {
    case request(Interaction)
    case page(OwnPage)
    /// The account page or that of the phone number, and from there back to an application.
    case account(AccountReturn)
    /// Back to the app that signed the user up.
    case app(AppReturn.Address)

    /// The value of `continue` in pages, also stored with mails: an interaction's id or a path of ours.
    package var text: String {
        switch self {
        case .request(let interaction): interaction.id.value
        case .page(let page): page.rawValue
        case .account(let back): back.path
        case .app(let address): address.path
        }
    }

    /// The path that leads there.
    package var path: String {
        if case .request(let interaction) = self { PagePath.authorize(interaction.id) } else { text }
    }

    /// The client of the waiting app.
    package var client: Client.ID? {
        switch self {
        case .request(let interaction): interaction.client
        case .page, .account: nil
        case .app(let address): address.client
        }
    }

    package var interaction: Interaction? { if case .request(let interaction) = self { interaction } else { nil } }
}

/// The pages of ours that require a sign-in and continue after it.
package enum OwnPage: String, CaseIterable, Sendable {
    case account = "/account"
    /// The return from a sign-in that only confirms: the user then repeats the action.
    case confirmed = "/account?done=confirmed"
    case data = "/account/data"
    case deletion = "/account/delete"
    case addressCheck = "/account/email/check"
    case phones = "/account/phones"
    case verification = "/verify"
}

/// No interaction with this id is stored for this browser: it expired, is another browser's, or the id was edited.
package struct InteractionGone: Error {
    package init() {}
}

extension PageRenderer {
    /// The destination that `text` of a form or URL names in the browser of `http`; nil when it is not one of ours.
    ///
    /// Throws `InteractionGone`.
    package func destination(_ text: String?, _ http: Request) async throws -> Destination? {
        guard let text else { return nil }
        if let page = OwnPage(rawValue: text) { return .page(page) }
        if let back = AccountReturn(path: text) { return .account(back) }
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

    /// `post`, which also keeps a waiting request for as long as a mail for `purpose` is valid, because the mail links
    /// back to it.
    package func keeping(
        _ destination: Destination?, for purpose: Verification.Purpose, with post: @escaping Verifications.Post
    ) -> Verifications.Post {
        guard let interaction = destination?.interaction, let lifetime = purpose.linkLifetime else { return post }
        return { [interactions] heldBack, db in
            try interactions.keep(interaction, for: lifetime, in: db)
            try post(heldBack, db)
        }
    }

    /// The destination of the mail for `verification`. Its secret is accepted in any browser. An expired request, or a
    /// deleted client, has no destination.
    package func destination(of verification: Verification) async throws -> Destination? {
        let text = verification.continueTo
        if let page = OwnPage(rawValue: text) { return .page(page) }
        if let back = AccountReturn(path: text) { return .account(back) }
        let address = AppReturn.Address(text)
        if let id = address?.interaction ?? Interaction.ID(carried: text),
            let interaction = try await interactions.find(id)
        {
            return .request(interaction)
        }
        guard let address, try await clients.find(address.client) != nil else { return nil }
        return .app(address)
    }

    /// The page context for a mailed link: it continues to the destination of its mail, in any browser.
    package func visit(_ request: Request, of verification: Verification) async throws -> PageContext {
        if let user = verification.user { request.note(user) }
        return try await visit(request, to: try await destination(of: verification))
    }
}

extension Fingerprint<Browser> {
    /// The same browser, with OAuth's type.
    package var ofInteraction: Fingerprint<Interaction.Browser> { Fingerprint<Interaction.Browser>(text: text) }
}

extension Interaction {
    /// The parameters of the request.
    package var form: Form { (try? Form.parse(request)) ?? Form(pairs: []) }
}
