public import HTTP

/// The routes of the endpoints, in the order in which they were added.
public struct Routes: Sendable {
    /// Makes the response to an error below a path; nil leaves it to the error boundary.
    public typealias Refusal = @Sendable (any Error, SpindleContext) -> Response?

    package private(set) var all: [Route] = []
    private let prefix: String
    private let refusal: Refusal?

    /// Routes whose paths begin with `prefix`, and whose errors `refusal` turns into responses.
    public init(below prefix: String = "", refusal: Refusal? = nil) {
        self.prefix = prefix
        self.refusal = refusal
    }

    /// The routes as text, for example `POST /login`.
    public var descriptions: [String] { all.map(\.description) }

    public static func + (a: Routes, b: Routes) -> Routes {
        var sum = a
        sum.all += b.all
        return sum
    }

    package mutating func on(_ path: String, method: HTTP.Method, use answer: @escaping Route.Answer) {
        all.append(Route(method, PathTemplate(path, below: prefix), refusal: refusal, answer: answer))
    }

    package mutating func get(_ path: String, use answer: @escaping Route.Answer) {
        on(path, method: .get, use: answer)
    }
    package mutating func head(_ path: String, use answer: @escaping Route.Answer) {
        on(path, method: .head, use: answer)
    }
    package mutating func post(_ path: String, use answer: @escaping Route.Answer) {
        on(path, method: .post, use: answer)
    }
    package mutating func put(_ path: String, use answer: @escaping Route.Answer) {
        on(path, method: .put, use: answer)
    }
    package mutating func patch(_ path: String, use answer: @escaping Route.Answer) {
        on(path, method: .patch, use: answer)
    }
    package mutating func delete(_ path: String, use answer: @escaping Route.Answer) {
        on(path, method: .delete, use: answer)
    }
}
