import Authentication
package import Directory
package import HTTP
import OAuth
package import Pages
package import Storage
package import Values

/// The presentation of pages for one request: language, brand, and who may frame them.
package struct PageContext: Sendable {
    package let frame: Frame
    /// The application that sent the user here.
    package let client: Client?
    /// Where the user goes next.
    package let destination: Destination?
    /// The id of the request in the log, which an error page shows.
    let reference: String?
    /// The request that the page answers.
    let request: Request?
    /// The images that a page may show, the logos of brand and application. Without their queries, which a CSP source
    /// cannot have (CSP 3 §2.3.1).
    let imageSources: [String]
    /// The origins that may frame the page: none, unless the page says so.
    package private(set) var framedBy: [String] = []
    /// The merchant whose name is on the page.
    private let merchant: Merchant.ID?
    private let mailTexts: MailTexts?

    package init(
        language: Language, client: Client? = nil, merchant: Merchant? = nil, destination: Destination? = nil,
        reference: String? = nil, request: Request? = nil
    ) {
        self.request = request
        self.destination = destination
        self.reference = reference
        let stylesheet = merchant.flatMap { $0.accentColor == nil ? nil : "/assets/brand/\($0.id).css" }
        let brand = merchant.map { Brand(name: $0.name, logoURI: $0.logoURI, stylesheet: stylesheet) }
        let application = client.flatMap { client in
            Application(
                name: client.name, logoURI: client.openID.address("logo_uri"),
                policyURI: client.openID.address("policy_uri"), termsURI: client.termsURI)
        }
        frame = Frame(language: language, brand: brand, application: application)
        self.client = client
        self.merchant = merchant?.id
        mailTexts = merchant?.mailTexts
        imageSources = [merchant?.logoURI, client?.openID.address("logo_uri")].compactMap(\.self)
            .map { String($0.prefix { $0 != "?" }) }
    }
}

extension PageContext {
    /// Stores the introduction of a user who continues from a page that names a merchant.
    package var introduction: (@Sendable (UserID, Timestamp, any Transaction) throws -> Void)? {
        guard let merchant else { return nil }
        return { [client] user, now, db in
            try Introductions.introduce(user, to: merchant, at: now, in: db)
            // The account page then shows the client, so that the user can revoke it.
            if let client, client.introduces == merchant {
                try Connections.connect(user, to: client.id, at: now, in: db)
            }
        }
    }

    /// The merchant in whose name a mail is sent from here.
    var sender: Merchant.ID? { client?.merchant ?? merchant }

    /// The merchant's own text for a mail that is caused on its page.
    func ownWords(for mail: MailTemplate) -> OwnMail? {
        mailTexts?[mail.name, frame.language.rawValue].map {
            OwnMail(subject: $0.subject, text: $0.text, application: client?.name)
        }
    }

    /// Whether a waiting app's request accepts only a new sign-in (OpenID Connect Core §3.1.2.1).
    package var wantsFreshness: Bool {
        guard let request = destination?.interaction?.form else { return false }
        let asksAgain = request[.prompt]?.split(separator: " ").contains { $0 == Prompt.login.rawValue } ?? false
        let mayAsk = client?.may(.askAsSPiD) == true
        let asksForPassword = mayAsk && AuthorizationRequest.asksForPassword(request[.acrValues])
        return asksAgain || asksForPassword || request[.maxAge] != nil || client?.openID.defaultMaxAge != nil
    }

    /// The same for a page that takes typing, or has no action: the client's own pages may frame it. A third party's
    /// page could place other content over ours and have the user click it. A page with one click to agree may not be
    /// framed at all, because even a merchant's own page could trick the user into that click.
    package var framable: PageContext {
        guard let client, client.may(.frameSignIn) else { return self }
        var visit = self
        visit.framedBy = client.webOrigins
        return visit
    }

    /// The same for a page without any action: a third party's `origin` may frame it too.
    package func framed(by origin: String) -> PageContext {
        var visit = self
        visit.framedBy = [origin]
        return visit
    }
}

extension PageRenderer {
    /// The page context of `request`. The brand is that of `client`, or of the client that it will continue to. The
    /// language is that of `ui_locales`, here or there, or else the browser's.
    package func visit(
        _ request: Request, client: Client? = nil, uiLocales: String? = nil, to destination: Destination? = nil
    ) async throws -> PageContext {
        let here = Form.query(of: request.target.text)
        let language = Language.preferred(
            uiLocales: uiLocales ?? here["ui_locales"] ?? destination?.interaction?.form[.uiLocales],
            acceptLanguage: request.headers[.acceptLanguage])
        var client = client
        if client == nil, let id = destination?.client { client = try await clients.findLive(id) }
        if let client { request.note(client.id) }
        var merchant: Merchant?
        // A self-registered client must not appear under the merchant's name and colours.
        if let client, client.may(.bearMerchantsName), let id = client.merchant {
            merchant = try await merchants.find(id)
        }
        return PageContext(
            language: language, client: client, merchant: merchant, destination: destination,
            reference: log.id(of: request), request: request)
    }
}

extension Form {
    /// The pairs of a path's query, or none.
    package static func query(of path: String?) -> Form {
        guard let path, let mark = path.firstIndex(of: "?") else { return Form(pairs: []) }
        return (try? parse(String(path[path.index(after: mark)...]))) ?? Form(pairs: [])
    }
}
