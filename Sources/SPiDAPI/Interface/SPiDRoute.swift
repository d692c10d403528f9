import HTTP
import SPiD

/// One endpoint of SPiD's API: its path, the token it takes, its parameters, and the function that answers.
public struct SPiDRoute: Sendable {
    typealias Answer = @Sendable (SPiDCall) async throws -> SPiDAnswer

    let method: HTTP.Method
    /// Below `/api/2/`: `user/{id}/logins`.
    let path: String
    let name: String
    /// SPiD's name for the code that answers: `User.logins`.
    let controller: String
    let access: CallAccess
    let required: [String]
    let optional: [String]
    /// Whether a form with an unknown parameter is refused, because its value would be lost.
    let isStrict: Bool
    let answer: Answer

    init(
        _ method: HTTP.Method, _ path: String, name: String, controller: String, token: CallAccess.Token,
        reach: CallAccess.Reach = .usual, isForApps: Bool = false, required: [String] = [], optional: [String] = [],
        isStrict: Bool = false, answer: @escaping Answer
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.controller = controller
        access = CallAccess(token, reach, isForApps: isForApps)
        self.required = required
        self.optional = optional
        self.isStrict = isStrict
        self.answer = answer
    }

    /// The parameters that every route takes.
    static let common = ["oauth_token", "contextClientId", "hash"]
    /// The parameters that may be repeated, as a list. The endpoint reads them from the query itself.
    static let repeatable: Set = ["filters"]
}

/// A part of SPiD's API: routes that belong together.
public protocol SPiDResource: Sendable {
    var routes: [SPiDRoute] { get }
}
