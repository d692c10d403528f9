import HTTP
import Synchronization

/// Answers with the request itself, and counts requests.
final class Echo: RequestHandler {
    let commonFields: Fields = [:]
    static let bodyLimit = 64 * 1024
    static let smallLimit = 16

    private let asked = Mutex<[String]>([])
    private let unread = Mutex<[UnreadRequest]>([])
    let gate = Gate()

    /// `METHOD target body` of every request, in the order in which they were handled.
    var requests: [String] { asked.withLock { $0 } }

    func admit(_ head: Request) -> Admission {
        Admission(route: 7, bodyLimit: head.target.path == "/small" ? Self.smallLimit : Self.bodyLimit)
    }

    /// What the server refused by itself.
    var refusals: [UnreadRequest] { unread.withLock { $0 } }

    func refuse(_ request: UnreadRequest) -> Fields {
        let count = unread.withLock { unread in
            unread.append(request)
            return unread.count
        }
        return [.xRequestID: "refused-\(count)"]
    }

    func respond(to request: Request) async -> Response {
        let text = Self.text(of: request)
        asked.withLock { $0.append(text) }
        switch request.target.path {
        case "/gate": await gate.wait()
        case "/split": return Response(status: .ok, headers: [.location: "/a\r\nSet-Cookie: b=c"], body: .text("x"))
        case "/stream": return Response(status: .ok, body: .stream(Self.parts(of: request)))
        case "/large": return Response(status: .ok, body: .bytes([UInt8](repeating: 0x61, count: 4_000_000)))
        case "/nothing": return Response(status: .noContent)
        default: break
        }
        if case .fault(let fault) = request.body {
            return Response(status: fault == .cutOff ? .badRequest : .contentTooLarge, body: .text(text))
        }
        return Response(status: .ok, headers: [.contentType: "text/plain"], body: .text(text))
    }

    static func text(of request: Request) -> String {
        switch request.body {
        case .bytes(let bytes): "\(request.method) \(request.target) \(String(decoding: bytes, as: UTF8.self))"
        case .fault(let fault): "\(request.method) \(request.target) \(fault)"
        }
    }

    /// As many parts of 1,000 bytes as the query says; with `broken`, an error ends them.
    private static func parts(of request: Request) -> AsyncThrowingStream<[UInt8], any Error> {
        let query = request.target.query ?? ""
        let count = Int(query.prefix { $0.isNumber }) ?? 3
        return AsyncThrowingStream { continuation in
            for _ in 0..<count { continuation.yield([UInt8](repeating: 0x62, count: 1000)) }
            continuation.finish(throwing: query.hasSuffix("broken") ? BrokenStream() : nil)
        }
    }

    struct BrokenStream: Error {}
}

/// Holds tasks until it is opened.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    var waiting: Int { state.withLock { $0.waiting.count } }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
