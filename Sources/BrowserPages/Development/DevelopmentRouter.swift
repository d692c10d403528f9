public import HTTP
import HTTPSupport
import JSON
public import Logging
import Synchronization
import Text
import Values

/// Surrounds the router of a server in development mode: remembers each request, and tells the log's reason in the
/// answer to a refused one. Other servers are built without it.
public final class DevelopmentRouter: RequestHandler {
    private let inner: any RequestHandler
    private let memory: DevelopmentMemory

    /// - Parameter inner: a router that logs to `sink(over:)`.
    public init(_ inner: any RequestHandler, memory: DevelopmentMemory) {
        self.inner = inner
        self.memory = memory
    }

    public var commonFields: Fields { inner.commonFields }
    public func admit(_ head: Request) -> Admission { inner.admit(head) }
    public func refuse(_ request: UnreadRequest) -> Fields { inner.refuse(request) }

    public func respond(to request: Request) async -> Response {
        let note = RequestNote()
        // A page for developers reads the keys too, to verify a token.
        let isOwnLook = RequestNote.current != nil && request.target.path == "/oauth/jwks"
        var response = await RequestNote.$current.withValue(note) { await inner.respond(to: request) }
        let lines = note.lines
        if request.isOfApp, !isOwnLook {
            memory.requests.add(DevelopmentRequest(request, response, lines, at: memory.clock.now))
        }
        if let reason = lines.reason { response.tell(reason) }
        return response
    }

    /// Passes on what the log gets, and notes the reasons in it for the answers.
    public static func sink(over sink: any LogSink) -> any LogSink { NotingSink(inner: sink) }
}

/// What the log says of one request.
final class RequestNote: Sendable {
    /// The note of the request that this task answers.
    @TaskLocal static var current: RequestNote?

    struct Lines: Sendable {
        var reason: String?
        var detail: String?
    }

    private let noted = Mutex(Lines())

    var lines: Lines { noted.withLock { $0 } }

    fileprivate func take(_ record: LogRecord) {
        guard let reason = record.metadata["reason"] else { return }
        let detail = record.metadata["detail"]
        noted.withLock { $0 = Lines(reason: reason.description, detail: detail?.description) }
    }
}

private struct NotingSink: LogSink {
    let inner: any LogSink

    var level: Logger.Level { min(.info, inner.level) }

    func write(_ record: LogRecord) {
        if record.level >= .info { RequestNote.current?.take(record) }
        if record.level >= inner.level { inner.write(record) }
    }
}

extension Request {
    /// Whether an app or its user sends it, and not a developer's look at this server.
    fileprivate var isOfApp: Bool {
        let path = target.path
        return !["/", "/favicon.ico", "/healthz", "/readyz"].contains(path)
            && !["/development/", "/assets/"].contains { path.hasPrefix($0) }
    }
}

extension Response {
    /// Adds `reason` to a refusal: to its JSON, to the banner of its page, or to the query of the redirect.
    fileprivate mutating func tell(_ reason: String) {
        if let location = headers[.location] {
            guard location.contains("error=") else { return }
            headers[.location] = "\(location)&reason=\(PercentEncoding.encode(reason))"
        } else if status.code >= 400, let text {
            if isJSON, let members = (try? JSON(parsing: Array(text.utf8)))?.members {
                body = .bytes(JSON.object(members + [.init("reason", .string(reason))]).bytes)
            } else if let end = text.firstRange(of: "</aside>")?.lowerBound {
                let told = reason.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                body = .text("\(text[..<end])<p>reason: <code>\(told)</code></p>\n\(text[end...])")
            }
        }
    }
}
