import Administration
import Directory
import HTTP
import HTTPSupport
import JSON

/// The operations of administration, in the order of the endpoints. Who may call each stands here.
extension Operation {
    static let createMerchant = creating(.merchant, "make a merchant", by: .platform)
    static let listMerchants = listing(
        .merchant, "list merchants", sortedBy: MerchantSearch.Order.self,
        by: [
            .init("name", .text, "those with this name"),
            .init("redirect_uri", .uri, "those of clients with this redirect URI"),
        ])
    static let getMerchant = showing(.merchant, "read a merchant")
    static let changeMerchant = changing(.merchant, "change a merchant")
    static let deleteMerchant = deleting(.merchant, "delete a merchant", by: .platform)

    static let createClient = creating(.client, "make a client")
    static let listClients = listing(
        .client, "list clients", sortedBy: ClientSearch.Order.self,
        by: [
            .init("merchant_id", .text, "those of this merchant"),
            .init("client_name", .text, "those with this name"),
            .init("client_id", .text, "the one with this id"),
            .init("redirect_uri", .uri, "those with this redirect URI"),
        ])
    static let getClient = showing(.client, "read a client")
    static let changeClient = changing(.client, "change a client", refusals: [.conflict])
    static let deleteClient = deleting(.client, "delete a client", refusals: [.conflict])
    static let addSecret = Operation(
        "addSecret", "add a secret of a client", by: .administrator(.administrators),
        parameters: [RepeatedCalls.header],
        answers: [.made(.secret)], refusals: [.conflict])
    static let listSecrets = listing(.secret, "list the secrets of a client, without their values")
    static let endSecret = deleting(.secret, "end a secret of a client", as: "endSecret", refusals: [.conflict])

    static let createInitialAccessToken = creating(.initialAccessToken, "make an initial access token")
    static let listInitialAccessTokens = listing(.initialAccessToken, "list initial access tokens")
    static let getInitialAccessToken = showing(.initialAccessToken, "read an initial access token")
    static let deleteInitialAccessToken = deleting(.initialAccessToken, "delete an initial access token")

    static let createUser = creating(.user, "make a user", refusals: [.conflict, .tooManyRequests])
    static let listUsers = listing(
        .user, "list users", for: .helpers, sortedBy: UserSearch.Order.self, by: UserSearch.parameters)
    static let getUser = showing(.user, "read a user", for: .helpers)
    static let changeUser = changing(
        .user, "change a user", by: [.administrators, .platformSupport], refusals: [.conflict, .tooManyRequests])
    static let deleteUser = deleting(.user, "delete a user")
    static let exportUser = Operation(
        "exportUser", "export the data of a user", by: .administrator(.platform),
        answers: [.init(.ok, .json(.document), "all that is stored about the user")])

    static let listEvents = listing(
        .event, "list events",
        by: [
            eventsAfter,
            .init("actor", .text, "what the one with this id did"),
            .init("subject", .text, "what was done to the one with this id"), eventType,
            .init("client_id", .text, "those of this client"),
            .init("request_id", .text, "those of the request with this id in the log"),
        ])
    static let listUserEvents = Operation(
        "listUserEvents", "list the events of a user", by: .administrator(.all),
        parameters: ListPage.parameters + [eventsAfter, eventType], answers: [.page(of: .event)])
    private static let eventsAfter = Parameter(
        "after", .text, "those stored after the event with this id, the oldest first; 0 for all")
    private static let eventType = Parameter("type", .text, "those of this type, such as `user.changed`")

    static let find = Operation(
        "find", "find what has an id", by: .administrator(.helpers),
        parameters: [
            .init("q", .text(300), isRequired: true, "an id that a token, an answer or the log has, or an address")
        ],
        answers: [.init(.ok, .json(.object(["items": .list(Found.schema)], required: ["items"])), "what has that id")])

    static let createIssuer = creating(.issuer, "register an issuer")
    static let listIssuers = listing(.issuer, "list issuers")
    static let getIssuer = showing(.issuer, "read an issuer")
    static let changeIssuer = changing(.issuer, "change an issuer")
    static let deleteIssuer = deleting(.issuer, "delete an issuer")

    static let createWebhook = creating(.webhook, "make a webhook")
    static let listWebhooks = listing(.webhook, "list webhooks")
    static let getWebhook = showing(.webhook, "read a webhook")
    static let changeWebhook = changing(.webhook, "change a webhook", isTagged: false)
    static let deleteWebhook = deleting(.webhook, "delete a webhook")
}

extension Operation {
    static func creating(
        _ document: Document, _ summary: String, by roles: AdministratorRoles = .administrators,
        refusals: [Status] = [.conflict]
    ) -> Operation {
        Operation(
            "create\(document.name)", summary, by: .administrator(roles), parameters: [RepeatedCalls.header],
            body: .document(document, to: .create),
            answers: [.made(document)], refusals: refusals)
    }

    static func listing(
        _ document: Document, _ summary: String, for roles: AdministratorRoles = .all,
        by filters: [Parameter] = []
    ) -> Operation {
        Operation(
            "list\(document.name)s", summary, by: .administrator(roles), parameters: ListPage.parameters + filters,
            answers: [.page(of: document)])
    }

    static func listing<Order>(
        _ document: Document, _ summary: String, for roles: AdministratorRoles = .all, sortedBy orders: Order.Type,
        by filters: [Parameter]
    ) -> Operation where Order: RawRepresentable<String> & CaseIterable {
        Operation(
            "list\(document.name)s", summary, by: .administrator(roles),
            parameters: ListPage.parameters(sortedBy: orders) + filters, answers: [.page(of: document)])
    }

    static func showing(
        _ document: Document, _ summary: String, for roles: AdministratorRoles = .all
    ) -> Operation {
        Operation("get\(document.name)", summary, by: .administrator(roles), answers: [.shows(document)])
    }

    static func changing(
        _ document: Document, _ summary: String, by roles: AdministratorRoles = .administrators,
        isTagged: Bool = true, refusals: [Status] = [.conflict]
    ) -> Operation {
        Operation(
            "change\(document.name)", summary, by: .administrator(roles), parameters: isTagged ? [ifMatch] : [],
            body: .document(document, to: .change), answers: [.shows(document)],
            refusals: refusals + (isTagged ? [.preconditionFailed] : []))
    }

    static func deleting(
        _ document: Document, _ summary: String, as id: String? = nil, by roles: AdministratorRoles = .administrators,
        refusals: [Status] = []
    ) -> Operation {
        Operation(
            id ?? "delete\(document.name)", summary, by: .administrator(roles), answers: [.done], refusals: refusals)
    }
}
