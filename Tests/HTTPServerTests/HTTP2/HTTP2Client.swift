import HTTP
import Logging

@testable import HTTPServer

/// A client connected to a session without a socket: each side receives at once what the other sends.
final class HTTP2Client {
    let session: HTTP2Session
    let handler: ScriptedHandler
    var now: Milliseconds = 1_000_000
    /// The frames from the server, in order.
    private(set) var frames: [Frame] = []
    private var unread: [UInt8] = []
    private let decoder = FieldDecoder()

    init(
        limits: ServerLimits = ServerLimits(), bodyLimit: Int = 1_000, commonFields: Fields = [:],
        settings: [UInt8] = [], greets: Bool = true
    ) {
        handler = ScriptedHandler(bodyLimit: bodyLimit, commonFields: commonFields)
        let service = Service(
            handler: handler, limits: limits, logger: Logger(label: "test", sink: SilentSink()))
        session = HTTP2Session(service: service, dates: DateClock(), peer: "192.0.2.7", now: now)
        if greets { send(Frame.preface + Frame(.settings, settings).bytes) }
    }

    func send(_ bytes: [UInt8]) {
        session.receive(bytes.span, now: now)
        read()
    }

    /// Sends, and reads nothing.
    func push(_ bytes: [UInt8]) { session.receive(bytes.span, now: now) }

    func send(_ frames: Frame...) { send(frames.flatMap(\.bytes)) }

    /// A request without a body, unless `endsStream` is false.
    func request(
        _ stream: Int32, _ method: String = "GET", _ path: String = "/a", _ fields: [(String, String)] = [],
        endsStream: Bool = true
    ) {
        send(Self.head(stream, method, path, fields, endsStream: endsStream).split)
    }

    static func head(
        _ stream: Int32, _ method: String = "GET", _ path: String = "/a", _ fields: [(String, String)] = [],
        endsStream: Bool = true
    ) -> Frame {
        let own = [(":method", method), (":path", path), (":scheme", "https"), (":authority", "id.example")]
        return raw(stream, own + fields, endsStream: endsStream)
    }

    static func raw(_ stream: Int32, _ fields: [(String, String)], endsStream: Bool = true) -> Frame {
        let flags = Frame.endHeaders | (endsStream ? Frame.endStream : 0)
        return Frame(.headers, flags: flags, stream: stream, HPACK.block(fields))
    }

    /// Reads the server's output.
    func read() {
        while session.hasOutput { session.produce(into: &unread, now: now) }
        frames += Frame.take(from: &unread)
    }

    func next() -> StartedRequest? { session.nextRequest(now: now) }

    func answer(_ response: Response, to stream: Int32) {
        session.answer(response, to: stream, now: now)
        read()
    }

    func advance(_ time: Milliseconds) {
        now += time
        if session.deadline <= now { session.expire(now: now) }
        read()
    }

    /// Frames of one stream.
    func of(_ stream: Int32, _ kind: Frame.Kind? = nil) -> [Frame] {
        frames.filter { $0.stream == stream && (kind == nil || $0.kind == kind?.rawValue) }
    }

    func hasEnded(_ stream: Int32) -> Bool { of(stream).contains { $0.endsStream && $0.kind < 2 } }
    func body(of stream: Int32) -> [UInt8] { of(stream, .data).flatMap(\.payload) }
    func resets(of stream: Int32) -> [UInt32] { of(stream, .reset).map(\.number) }
    var goAways: [Frame] { of(0, .goAway) }
    var isOver: Bool { session.end != nil }

    /// The fields of the last response head of `stream`. Blocks must be read in the order in which they arrived.
    func fields(of stream: Int32) -> [String: String] { decoder.fields(in: of(stream, .headers).last?.payload ?? []) }
}

/// Admits everything; its answer is never used.
final class ScriptedHandler: RequestHandler {
    let bodyLimit: Int
    let commonFields: Fields

    init(bodyLimit: Int, commonFields: Fields = [:]) { (self.bodyLimit, self.commonFields) = (bodyLimit, commonFields) }

    func admit(_ head: Request) -> Admission { Admission(route: 7, bodyLimit: bodyLimit) }
    func respond(to request: Request) async -> Response { Response(status: .ok) }
    func refuse(_ request: UnreadRequest) -> Fields { [.xRequestID: request.reason] }
}

struct SilentSink: LogSink {
    var level: Logger.Level { .critical }
    func write(_ record: LogRecord) {}
}
