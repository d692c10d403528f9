import Administration
import Authentication
import Directory
import HTTP
import HTTPSupport
import JSON

/// The operations of what a user has here.
struct UserPartOperations: Sendable {
    let list: Operation
    let endOne: Operation
    let endAll: Operation

    static func of(_ part: UserHoldings.Part) -> UserPartOperations {
        switch part {
        case .sessions: sessions
        case .tokens: tokens
        case .consents: consents
        case .identities: identities
        case .throttles: throttles
        case .mails: mails
        }
    }

    private static let sessions = Self("Sessions", .userSession, "sessions", by: .helpers)
    private static let tokens = Self("TokenFamilies", .tokenFamily, "token families", by: .helpers)
    private static let consents = Self("Consents", .consent, "clients that it gave access", by: .helpers)
    private static let identities = Self("Identities", .identity, "links to issuers", by: .administrators)
    private static let throttles = Self(
        "Throttles", .throttle, "limits in use", by: .helpers, besides: [.tooManyRequests])
    private static let mails = Self("Mails", .userMail, "waiting and failed messages", by: .administrators)

    private init(
        _ name: String, _ document: Document, _ words: String, by roles: AdministratorRoles,
        besides refusals: [Status] = []
    ) {
        list = Operation(
            "listUser\(name)", "list a user's \(words)", by: .administrator(.helpers),
            parameters: ListPage.parameters, answers: [.page(of: document)], refusals: [.notFound])
        endOne = Operation(
            "endOneOfUser\(name)", "end one of a user's \(words)", by: .administrator(roles), answers: [.done],
            refusals: [.notFound, .conflict] + refusals)
        endAll = Operation(
            "endUser\(name)", "end a user's \(words)", by: .administrator(roles), answers: [.done],
            refusals: [.notFound, .conflict] + refusals)
    }
}

extension Operation {
    static let listLogins = Operation(
        "listUserLogins", "list a user's sign-ins, the newest first", by: .administrator(.helpers),
        parameters: ListPage.parameters, answers: [.page(of: .login)])
    static let unlockUser = Operation(
        "unlockUser", "lift the limits on a user's sign-ins", by: .administrator(.helpers),
        parameters: [RepeatedCalls.header],
        answers: [
            .init(.ok, .json(.object(["lifted": .number], required: ["lifted"])), "how many limits had been used")
        ], refusals: [.tooManyRequests])
    static let mailUser = Operation(
        "mailUser", "send a user a mail", by: .administrator(.helpers), parameters: [RepeatedCalls.header],
        body: .document(.mailRequest, to: .create), answers: [.init(.accepted, nil, "queued")],
        refusals: [.conflict, .tooManyRequests])
    static let beginDeletion = Operation(
        "beginUserDeletion", "begin the deletion of a user", by: .administrator([.platform, .platformSupport]),
        parameters: [RepeatedCalls.header],
        answers: [
            .init(
                .ok, .json(.object(["deletion_due_at": .time], required: ["deletion_due_at"])),
                "until when the user can cancel it")
        ], refusals: [.tooManyRequests])
    static let cancelDeletion = Operation(
        "cancelUserDeletion", "cancel the deletion of a user", by: .administrator(.platform), answers: [.done],
        refusals: [.conflict])

    static let listKeys = Operation(
        "listKeys", "list the signing keys", by: .administrator([.platform, .platformAudit]),
        answers: [.init(.ok, .json(keys), "every key, in the order in which they begin to sign")])
    static let rotateKeys = Operation(
        "rotateKeys", "make the next signing keys", by: .administrator(.platform), parameters: [RepeatedCalls.header],
        answers: [.init(.created, .json(keys), "those that sign next; none where one already does")])
    static let withdrawKey = Operation(
        "withdrawKey", "withdraw a signing key", by: .administrator(.platform), answers: [.done])
    private static let keys = Schema.object(["items": .list(.document), "next": .null], required: ["items", "next"])

    static let listDeliveries = Operation(
        "listDeliveries", "list deliveries", by: .administrator([.platform, .platformSupport, .platformAudit]),
        parameters: ListPage.parameters + [
            .init("state", .word("waiting", "failed"), "`waiting` by default")
        ], answers: [.page(of: .delivery)])
    static let retryDelivery = Operation(
        "retryDelivery", "make a delivery due now", by: .administrator(.platform), parameters: [RepeatedCalls.header],
        answers: [.done],
        refusals: [.conflict])
    static let dropDelivery = Operation(
        "dropDelivery", "drop a delivery", by: .administrator(.platform), answers: [.done])

    static let getCounts = Operation(
        "getCounts", "count users, clients and others", by: .administrator(.all),
        answers: [.init(.ok, .json(.map(.number)), "how many there are, as counted within a minute")])
}

extension Document {
    static let userSession = Document(
        "UserSession",
        [
            id, clientID, .init("merchant_id", .text, as: .answer, "where alone it is good"), issuerID, method,
            .init("signed_in_at", .time, as: .answer, ""), address, agent,
            .init("remembered", .flag, as: .answer, ""), created, .init("seen_at", .time, as: .answer, ""), expires,
        ])
    static let tokenFamily = Document(
        "TokenFamily",
        [
            id, clientID, .init("scope", .text, as: .answer, ""), .init("resource", .text, as: .answer, ""), method,
            issuerID, .init("session_id", .text, as: .answer, "where it was got"), created, expires,
        ])
    static let consent = Document(
        "Consent",
        [
            id, clientID, .init("client_name", .text, as: .answer, ""), .init("scope", .text, as: .answer, ""), created,
        ])
    static let identity = Document(
        "Identity",
        [
            id, issuerID, .init("issuer", .text, as: .answer, ""), .init("merchant_id", .text, as: .answer, ""),
            .init("subject", .text, as: .answer, ""),
            .init("confined", .flag, as: .answer, "good at the merchant alone, because its client made it"), created,
        ])
    static let throttle = Document(
        "Throttle",
        [
            id, .init("kind", .word(UserThrottles.Kind.allCases.map(\.rawValue)), as: .answer, ""), address,
            .init("merchant_id", .text, as: .answer, ""),
            .init("wait", .number, as: .answer, "seconds until one more is let through"),
            .init("until", .time, as: .answer, "when it will be as unused"),
        ])
    static let login = Document(
        "Login",
        [
            id, created, clientID, .init("type", .text, as: .answer, ""), .init("succeeded", .flag, as: .answer, ""),
            .init("provider", .text, as: .answer, ""), address, agent,
        ])
    static let userMail = Document("UserMail", delivered)
    static let delivery = Document("Delivery", delivered)
    static let mailRequest = Document(
        "Mail",
        [
            .init(
                "kind", .word("reset", "verify"), as: .create, isRequired: true,
                "`reset`: a link to choose a password; `verify`: one that verifies the address")
        ])

    private static let delivered: [DocumentMember] = [
        id, .init("kind", .word("mail", "text", "callback", "notice"), as: .answer, ""),
        .init("state", .word("waiting", "failed"), as: .answer, ""), .init("attempts", .number, as: .answer, ""),
        .init("due_at", .time, as: .answer, "the next attempt"), created, expires,
        .init("failed_at", .time, as: .answer, ""), .init("error", .text, as: .answer, "why it was given up"),
    ]

    private static let id = DocumentMember("id", .text, as: .answer, "")
    private static let clientID = DocumentMember("client_id", .text, as: .answer, "")
    private static let issuerID = DocumentMember("issuer_id", .text, as: .answer, "")
    private static let method = DocumentMember("method", .text, as: .answer, "how the user signed in")
    private static let address = DocumentMember("address", .text, as: .answer, "")
    private static let agent = DocumentMember("user_agent", .text, as: .answer, "")
    private static let created = DocumentMember("created_at", .time, as: .answer, "")
    private static let expires = DocumentMember("expires_at", .time, as: .answer, "")
}
