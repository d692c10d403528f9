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

    /// - Parameters:
    ///   - isSafe: whether it is a GET that changes nothing here, so that HEAD is answered too.
    ///   - readers: the web pages of other origins that may call it, by a script.
    ///   - query: the parameters of its query, for routes that refuse others.
    package mutating func on(
        _ path: String, method: HTTP.Method, isSafe: Bool = false, readers: PageReaders = .none, query: [String] = [],
        use answer: @escaping Route.Answer
    ) {
        let template = PathTemplate(path, below: prefix)
        all.append(
            Route(
                method, template, isSafe: isSafe, readers: readers, query: query, refusal: refusal, answer: answer))
    }

    package mutating func get(
        _ path: String, isSafe: Bool = false, readers: PageReaders = .none, query: [String] = [],
        use answer: @escaping Route.Answer
    ) { on(path, method: .get, isSafe: isSafe, readers: readers, query: query, use: answer) }
    package mutating func post(
        _ path: String, readers: PageReaders = .none, use answer: @escaping Route.Answer
    ) { on(path, method: .post, readers: readers, use: answer) }
    package mutating func put(
        _ path: String, readers: PageReaders = .none, use answer: @escaping Route.Answer
    ) { on(path, method: .put, readers: readers, use: answer) }
    package mutating func patch(_ path: String, use answer: @escaping Route.Answer) {
        on(path, method: .patch, use: answer)
    }
    package mutating func delete(
        _ path: String, readers: PageReaders = .none, use answer: @escaping Route.Answer
    ) { on(path, method: .delete, readers: readers, use: answer) }
}
