import HTTP

/// One endpoint of SPiD's API: where it is, whose token it takes, which parameters it knows, and what answers.
public struct SPiDRoute: Sendable {
    /// Whose token an endpoint takes.
    enum Caller: Sendable {
        case anybody
        /// Anybody; a token that comes along is read.
        case visitor
        case client
        case person
        case either

        /// SPiD's words for the kinds of token.
        var tokenTypes: [String] {
            switch self {
            case .anybody, .visitor: []
            case .client: ["server"]
            case .person: ["user"]
            case .either: ["server", "user"]
            }
        }
    }
    /// For whom an endpoint is besides the merchant's own clients and those in SPiD's ways, and by which tokens.
    enum Reach: Sendable {
        case usual
        /// For every client of the merchant.
        case everyClient
        /// It ends the token: also one that is for another's resource.
        case everyToken
    }
    typealias Answer = @Sendable (SPiDCall) async throws -> SPiDAnswer

    let method: HTTP.Method
    /// Below `/api/2/`: `user/{id}/logins`.
    let path: String
    let name: String
    /// SPiD's own word for what answers: `User.logins`.
    let controller: String
    let caller: Caller
    let reach: Reach
    let required: [String]
    let optional: [String]
    let answer: Answer

    init(
        _ method: HTTP.Method, _ path: String, name: String, controller: String, caller: Caller,
        reach: Reach = .usual, required: [String] = [], optional: [String] = [], answer: @escaping Answer
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.controller = controller
        self.caller = caller
        self.reach = reach
        self.required = required
        self.optional = optional
        self.answer = answer
    }

    /// What every caller may add.
    static let common = ["oauth_token", "contextClientId", "hash"]
    /// What may be said again, as a list: who answers reads it.
    static let repeatable: Set = ["filters"]
}

/// A part of SPiD's API: a few routes that belong together.
public protocol SPiDResource: Sendable {
    var routes: [SPiDRoute] { get }
}
