import Authentication
import BrowserPages
import Directory
import Federation
import HTTPSupport
import Keys
import OAuth
import OpenID
import Outbound
import Storage
import Values

/// The half of the wiring that people meet: their pages, their mail, and what is behind them.
struct People {
    let pages: PageRenderer
    let postman: DeliveryService
    let sessions: Sessions
    let consents: Consents
    let introductions: Introductions
    let agreements: Agreements
    let apps: ConnectedApps
    let data: PersonalData
    let appSignUp: AppSignUp
    let verifications: Verifications
    let arrivals: NewSessions
    let gate: UserAccess
    /// The pages that need nothing of tokens.
    let endpoints: [any Endpoint]

    init(
        _ parts: Parts, _ stores: Stores, site: Site, address: ClientAddress, outbound: Outbound, terms: String?,
        logouts: LogoutTokens
    ) {
        let (database, clock, random, hashing) = (parts.database, parts.clock, parts.random, parts.hashing)

        // Pages and mails
        let interactions = Interactions(database: database, clock: clock, random: random)
        pages = PageRenderer(
            templates: stores.templates, site: site,
            forms: FormGuard(site: site, key: parts.masterKey.key(for: "form_tokens"), random: random),
            clients: stores.clients, merchants: stores.merchants, issuers: stores.issuers,
            interactions: interactions, address: address)
        postman = DeliveryService(outbox: stores.outbox, mailer: parts.mailer, outbound: outbound, logouts: logouts)
        let mail = stores.mail

        // Who somebody is
        sessions = Sessions(database: database, clock: clock, events: stores.events)
        consents = Consents(database: database)
        introductions = Introductions(database: database)
        agreements = Agreements(database: database, terms: terms)
        apps = ConnectedApps(database: database, clock: clock, callbacks: stores.callbacks)
        let signIn = SignIn(database: database, hashing: hashing, clock: clock, random: random)
        verifications = Verifications(
            database: database, clock: clock, random: random, codeKey: parts.masterKey.key(for: "mail_codes"))
        let mailSignIn = MailSignIn(
            database: database, verifications: verifications, clock: clock, events: stores.events)
        let addresses = AddressChange(
            database: database, verifications: verifications, clock: clock, events: stores.events)
        let signUp = SignUp(
            database: database, verifications: verifications, hashing: hashing, clock: clock, random: random,
            events: stores.events)
        appSignUp = AppSignUp(
            database: database, verifications: verifications, hashing: hashing, clock: clock, random: random,
            events: stores.events)
        let reset = PasswordReset(
            database: database, verifications: verifications, hashing: hashing, clock: clock, random: random,
            events: stores.events)
        data = PersonalData(database: database, clock: clock, tables: StoredTable.all.reversed())

        // What answers
        arrivals = NewSessions(
            sessions: sessions, interactions: interactions, site: site, address: address, random: random)
        gate = UserAccess(pages: pages, arrivals: arrivals, signIn: signIn, clock: clock)
        let sessionList = SessionList(database: database, clock: clock, events: stores.events)
        let links = IssuerSubjects(database: database)
        let view = AccountView(
            pages: pages, users: stores.users, sessions: sessionList, apps: apps, links: links)
        endpoints =
            [
                LoginEndpoint(pages: pages, signIn: signIn, arrivals: arrivals, verifications: verifications),
                MailSignInEndpoint(
                    pages: pages, verifications: verifications, signIn: mailSignIn, arrivals: arrivals, mail: mail),
                SignUpEndpoint(
                    pages: pages, verifications: verifications, signUp: signUp, agreements: agreements,
                    arrivals: arrivals,
                    mail: mail),
                AppSignUpEndpoint(
                    pages: pages, verifications: verifications, signUp: appSignUp, signIn: signIn, arrivals: arrivals),
                PasswordEndpoint(
                    pages: pages, verifications: verifications, signIn: mailSignIn, reset: reset, arrivals: arrivals,
                    mail: mail),
                VerifyEndpoint(
                    pages: pages, verifications: verifications, addresses: addresses, arrivals: arrivals, mail: mail,
                    random: random),
                AccountEndpoint(
                    gate: gate, view: view, users: stores.users, sessions: sessionList, apps: apps, links: links,
                    mail: mail),
                AddressEndpoint(
                    gate: gate, view: view, users: stores.users, verifications: verifications,
                    addresses: addresses, mail: mail, random: random),
                AccountDataEndpoint(gate: gate, data: data),
                DeletionEndpoint(
                    gate: gate, users: stores.users, deletion: stores.deletion, mail: mail, clock: clock),
                RestoreEndpoint(
                    pages: pages, deletion: stores.deletion, verifications: verifications, arrivals: arrivals),
                AssetEndpoint(templates: stores.templates, merchants: stores.merchants),
            ] + DevelopmentMode.endpoints(parts, stores, pages: pages, arrivals: arrivals, verifications: verifications)
    }
}
