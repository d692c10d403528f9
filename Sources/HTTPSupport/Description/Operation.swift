package import Directory
package import HTTP
package import JSON

/// The declaration of a route: who may call it, what it reads, and how it answers. The router, the checks of requests
/// and the description of the API (`/openapi.json`) read it. Made once, at the start.
package final class Operation: Sendable {
    /// Its name among all operations: `listUsers`.
    package let id: String
    /// What it does, as the end of "it may …".
    package let summary: String
    package let caller: Caller
    package let parameters: [Parameter]
    package let body: Body?
    package let answers: [Answer]
    /// The statuses of its refusals, besides those that follow from who calls and what is read.
    package let refusals: [Status]
    /// What its refusals look like.
    let dialect: Dialect
    /// The names of the parameters of its query.
    package let query: [String]

    package init(
        _ id: String, _ summary: String, by caller: Caller, parameters: [Parameter] = [], body: Body? = nil,
        answers: [Answer], refusals: [Status] = [], refusingAs dialect: Dialect? = nil
    ) {
        self.id = id
        self.summary = summary
        self.caller = caller
        self.parameters = parameters
        self.body = body
        self.answers = answers
        self.refusals = refusals
        self.dialect = dialect ?? caller.dialect
        query = parameters.filter { $0.place == .query }.map(\.name)
    }

    /// Of a route that no description has: one of a test, or another spelling of a declared one.
    package static let undescribed = Operation("", "", by: .anyone, answers: [])

    /// Who calls.
    package enum Caller: Sendable {
        case anyone
        /// A client that authenticates (RFC 6749 §2.3).
        case client
        /// A client or user with an access token (RFC 6750).
        case token
        /// A browser, by its session.
        case browser
        /// A client by its own token, with one of these roles.
        case administrator(AdministratorRoles)
    }

    /// The shapes of refusals, by the names of their descriptions.
    package enum Dialect: String, Sendable {
        /// RFC 9457.
        case problem = "Problem"
        /// RFC 6749 §5.2.
        case error = "Error"
        case spid = "SPiDError"
        /// A page, or one of the others.
        case page = "Refusal"
    }

    package enum Place: String, Sendable { case path, query, header }

    /// A parameter of the path, of the query or of the header.
    package struct Parameter: Sendable {
        package let name: String
        package let place: Place
        package let schema: Schema
        package let isRequired: Bool
        package let meaning: String

        package init(
            _ name: String, in place: Place = .query, _ schema: Schema = .text, isRequired: Bool = false,
            _ meaning: String
        ) {
            self.name = name
            self.place = place
            self.schema = schema
            self.isRequired = isRequired || place == .path
            self.meaning = meaning
        }
    }

    /// The body that it reads.
    package struct Body: Sendable {
        package static let json = "application/json"
        package static let form = "application/x-www-form-urlencoded"

        package let type: String
        package let name: String?
        package let members: [DocumentMember]
        /// The names of the members.
        package let names: [String]
        /// The names of members that answers have and this body cannot set.
        package let readOnly: Set<String>
        let use: DocumentMember.Uses
        /// Whether other members are refused, and not ignored.
        let isClosed: Bool

        /// The document, as it is for `use`: to create something, or to change it.
        package static func document(_ document: Document, to use: DocumentMember.Uses) -> Body {
            Body(
                type: json, name: use == .create ? "New\(document.name)" : "\(document.name)Change",
                of: document.members, use, isClosed: true)
        }

        /// A form (RFC 6749 appendix B).
        package static func form(_ members: [DocumentMember]) -> Body {
            Body(type: form, name: nil, of: members, .create)
        }

        /// A JSON object that may have further members, which are ignored.
        package static func object(_ name: String, _ members: [DocumentMember]) -> Body {
            Body(type: json, name: name, of: members, .create)
        }

        private init(
            type: String, name: String?, of all: [DocumentMember], _ use: DocumentMember.Uses, isClosed: Bool = false
        ) {
            self.isClosed = isClosed
            self.type = type
            self.name = name
            self.use = use
            members = all.filter { !$0.uses.isDisjoint(with: use) }
            names = members.map(\.name)
            readOnly = Set(all.map(\.name)).subtracting(names)
        }
    }

    /// What a response has.
    package enum Content: Sendable {
        case document(Document)
        /// With its secrets, which are shown once.
        case made(Document)
        /// A part of a list.
        case page(of: Document)
        case json(Schema)
        case html
        case other(String)
    }

    /// A response that is no refusal.
    package struct Answer: Sendable {
        package let status: Status
        package let content: Content?
        package let meaning: String

        package init(_ status: Status, _ content: Content? = nil, _ meaning: String) {
            self.status = status
            self.content = content
            self.meaning = meaning
        }

        package static func shows(_ document: Document) -> Answer { Answer(.ok, .document(document), "as it is now") }
        package static func made(_ document: Document) -> Answer {
            Answer(.created, .made(document), "what was made, with the secrets that are shown once")
        }
        package static func page(of document: Document) -> Answer {
            Answer(.ok, .page(of: document), "a part of the list")
        }
        package static let done = Answer(.noContent, nil, "done")
        package static let page = Answer(.ok, .html, "a page")
    }
}

/// A kind of document, with the declarations of its members.
package struct Document: Sendable {
    /// `User`
    package let name: String
    package let members: [DocumentMember]

    package init(_ name: String, _ members: [DocumentMember]) {
        self.name = name
        self.members = members
    }
}

extension Operation.Caller {
    fileprivate var dialect: Operation.Dialect {
        switch self {
        case .administrator: .problem
        case .client, .token: .error
        case .anyone, .browser: .page
        }
    }
}
