import HTTP

@testable import HTTPServer

/// A session without a socket: `Echo` answers its requests at once.
struct Conversation: Equatable, CustomStringConvertible {
    /// The requests that reached the handler.
    var requests: [String] = []
    /// Why the server refused requests by itself.
    var refusals: [String] = []
    /// The output, without Date fields.
    var sent = ""
    /// Whether the session has ended.
    var isOver = false

    var description: String { "\(requests) → \(sent.debugDescription)\(isOver ? " over" : "")" }
    var status: Int? { WireAnswer.first(in: Array(sent.utf8))?.0.status }

    init(_ pieces: [[UInt8]], ends: Bool = false) async {
        let echo = Echo()
        let service = Service(handler: echo, limits: ServerLimits(), logger: KeptLog().logger)
        let session = HTTP1Session(service: service, dates: DateClock(), peer: nil, now: 0)
        var output: [UInt8] = []
        for piece in pieces {
            session.receive(piece.span, now: 0)
            await Self.answer(session, echo, &output)
        }
        if ends {
            session.receiveEnd(now: 0)
            await Self.answer(session, echo, &output)
        }
        requests = echo.requests
        refusals = echo.refusals.map { "\($0.status?.code ?? 0) \($0.reason): \($0.rule)" }
        isOver = session.end != nil
        sent = String(decoding: output, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("Date: ") }.joined(separator: "\r\n")
    }

    private static func answer(_ session: HTTP1Session, _ echo: Echo, _ output: inout [UInt8]) async {
        while true {
            while session.hasOutput { session.produce(into: &output, now: 0) }
            guard let started = session.nextRequest(now: 0) else { break }
            session.answer(await echo.respond(to: started.request), to: started.stream, now: 0)
        }
        while session.hasOutput { session.produce(into: &output, now: 0) }
    }
}
