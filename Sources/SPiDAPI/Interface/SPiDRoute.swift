import HTTP
import SPiD

/// One endpoint of SPiD's API: where it is, whose token it takes, which parameters it knows, and what answers.
public struct SPiDRoute: Sendable {
    typealias Answer = @Sendable (SPiDCall) async throws -> SPiDAnswer

    let method: HTTP.Method
    /// Below `/api/2/`: `user/{id}/logins`.
    let path: String
    let name: String
    /// SPiD's own word for what answers: `User.logins`.
    let controller: String
    let access: CallAccess
    let required: [String]
    let optional: [String]
    let answer: Answer

    init(
        _ method: HTTP.Method, _ path: String, name: String, controller: String, token: CallAccess.Token,
        reach: CallAccess.Reach = .usual, required: [String] = [], optional: [String] = [], answer: @escaping Answer
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.controller = controller
        access = CallAccess(token, reach)
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
