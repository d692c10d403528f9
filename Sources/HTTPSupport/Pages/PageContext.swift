import Authentication
package import Directory
package import HTTP
import OAuth
package import Pages
package import Storage
package import Values

/// How pages are dressed for one request: in whose language, in whose brand, and who may put them in a frame.
package struct PageContext: Sendable {
    package let frame: Frame
    /// The application that sent the person here.
    package let client: Client?
    /// Where the person goes on to.
    package let destination: Destination?
    /// What images a page may show, the logos of brand and application, without their queries, which no source has
    /// (CSP 3 §2.3.1).
    let imageSources: [String]
    package private(set) var framedBy: [String]
    /// Whose name is on the page.
    private let merchant: Merchant.ID?

    package init(
        language: Language, client: Client? = nil, merchant: Merchant? = nil, destination: Destination? = nil
    ) {
        self.destination = destination
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
        imageSources = [merchant?.logoURI, client?.openID.address("logo_uri")].compactMap(\.self)
            .map { String($0.prefix { $0 != "?" }) }
        // A third party that frames its own request could lay it under something else and have it clicked.
        framedBy = client.map { $0.firstParty ? $0.webOrigins : [] } ?? []
    }
}

extension PageContext {
    /// What it means to go on from a page with a merchant's name on it.
    package var introduction: (@Sendable (UserID, Timestamp, any Transaction) throws -> Void)? {
        guard let merchant else { return nil }
        return { user, now, db in try Introductions.introduce(user, to: merchant, at: now, in: db) }
    }

    /// Whether an app's request waits that is content with nothing but a new sign-in (OpenID Connect Core §3.1.2.1).
    package var wantsFreshness: Bool {
        guard let request = destination?.interaction?.form else { return false }
        let asksAgain = request[.prompt]?.split(separator: " ").contains { $0 == Prompt.login.rawValue } ?? false
        return asksAgain || request[.maxAge] != nil || client?.openID.defaultMaxAge != nil
    }

    /// The same for a page whose one click says yes: also a merchant's own page could have it made unseen.
    package var unframed: PageContext {
        var visit = self
        visit.framedBy = []
        return visit
    }

    /// The same for a page that nobody can do anything on: also a third party's `origin` may frame it.
    package func framed(by origin: String) -> PageContext {
        var visit = self
        visit.framedBy = [origin]
        return visit
    }
}

extension PageRenderer {
    /// The visit that `request` is: `client`, or the client that it will go on to, decides the brand; `ui_locales`, there
    /// or here, and then the browser decide the language.
    package func visit(
        _ request: Request, client: Client? = nil, uiLocales: String? = nil, to destination: Destination? = nil
    ) async throws -> PageContext {
        let here = Form.query(of: request.target.text)
        let language = Language.preferred(
            uiLocales: uiLocales ?? here["ui_locales"] ?? destination?.interaction?.form[.uiLocales],
            acceptLanguage: request.headers[.acceptLanguage])
        var client = client
        if client == nil, let id = destination?.client { client = try await clients.findLive(id) }
        var merchant: Merchant?
        // Under a merchant's name and colours a client that came by itself would pass for the merchant's own.
        if let client, !client.registeredItself, let id = client.merchant { merchant = try await merchants.find(id) }
        return PageContext(language: language, client: client, merchant: merchant, destination: destination)
    }
}

extension Form {
    /// The pairs of the query of a path, or none.
    package static func query(of path: String?) -> Form {
        guard let path, let mark = path.firstIndex(of: "?") else { return Form(pairs: []) }
        return (try? parse(String(path[path.index(after: mark)...]))) ?? Form(pairs: [])
    }
}
