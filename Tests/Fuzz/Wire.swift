import HTTP
import Logging

@testable import HTTPServer

/// Answers with the request itself.
private final class Echo: RequestHandler {
    let commonFields: Fields = [:]
    func admit(_ head: Request) -> Admission {
        Admission(route: 0, bodyLimit: head.target.path == "/small" ? 16 : 4096)
    }

    func respond(to request: Request) async -> Response { Self.answer(request) }
    func refuse(_ request: UnreadRequest) -> Fields { [.xRequestID: request.reason] }

    static func answer(_ request: Request) -> Response {
        let body =
            switch request.body {
            case .bytes(let bytes): bytes.text
            case .fault(let fault): "\(fault)"
            }
        let fields = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: "|")
        return Response(status: .ok, body: .text("\(request.method) \(request.target) \(fields) \(body)"))
    }
}

private struct Silence: LogSink {
    var level: Logger.Level { .trace }
    func write(_ record: LogRecord) {}
}

private let service = Service(
    handler: Echo(), limits: ServerLimits(), logger: Logger(label: "fuzz", sink: Silence()))

/// Everything that a session answers to `pieces`, and whether it is over.
private func talk(_ session: any ConnectionSession, _ pieces: [ArraySlice<UInt8>]) -> ([UInt8], Bool) {
    var output: [UInt8] = []
    func answerAll() {
        while true {
            while session.hasOutput { session.produce(into: &output, now: 0) }
            guard let started = session.nextRequest(now: 0) else { break }
            session.answer(Echo.answer(started.request), to: started.stream, now: 0)
        }
        // The refusals in the meantime.
        while session.hasOutput { session.produce(into: &output, now: 0) }
    }
    for piece in pieces where session.end == nil {
        session.receive(Array(piece).span, now: 0)
        answerAll()
    }
    if session.end == nil {
        session.receiveEnd(now: 0)
        answerAll()
    }
    let isOver = session.end != nil
    session.close()
    return (output, isOver)
}

/// The pieces after the first byte, which gives their size.
private func pieces(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    guard let first = bytes.first else { return [] }
    let rest = bytes.dropFirst()
    let size = Int(first % 64) + 1
    return stride(from: rest.startIndex, to: rest.endIndex, by: size).map { rest[$0..<min($0 + size, rest.endIndex)] }
}

/// A conversation in HTTP/1.1: it ends, and the same bytes in other pieces give the same result.
@Sendable func fuzzHTTP1(_ bytes: [UInt8]) {
    let dates = DateClock()
    func conversation(_ pieces: [ArraySlice<UInt8>]) -> (String, Bool) {
        let session = HTTP1Session(service: service, dates: dates, peer: nil, now: 0)
        let (output, isOver) = talk(session, pieces)
        // Whether the client gets 100 Continue depends on what has arrived by then (RFC 9110 §10.1.1).
        return (withoutDates(output.text.replacing("HTTP/1.1 100 Continue\r\n\r\n", with: "")), isOver)
    }
    let whole = conversation([bytes.dropFirst()])
    let cut = conversation(pieces(bytes))
    require(isSame(whole.0, cut.0), "whole: \(whole.0.debugDescription)\ncut: \(cut.0.debugDescription)")
    require(whole.1 && cut.1, "it does not end")
}

private func withoutDates(_ text: String) -> String {
    text.split(separator: "\r\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("Date: ") }
        .joined(separator: "\r\n")
}

/// A conversation in HTTP/2, after the preface.
@Sendable func fuzzHTTP2(_ bytes: [UInt8]) {
    let session = HTTP2Session(service: service, dates: DateClock(), peer: nil, now: 0)
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    _ = talk(session, [preface[...]] + pieces(bytes))
}

/// A chunked body: in other pieces, it is the same body or the same fault.
@Sendable func fuzzChunks(_ bytes: [UInt8]) {
    func read(_ pieces: [ArraySlice<UInt8>]) -> String {
        var reader = ChunkedReader(limit: 1000)
        var body: [UInt8] = []
        for piece in pieces {
            do throws(ChunkedReader.Fault) {
                let used = try reader.read(Array(piece).span, into: &body)
                require(used <= piece.count && (used == piece.count || reader.isDone), "\(used) of \(piece.count)")
                require(body.count <= 1000, "over the limit: \(body.count)")
                if reader.isDone { return "done \(body)" }
            } catch {
                return "\(error)"
            }
        }
        return "more \(body)"
    }
    require(read([bytes.dropFirst()]) == read(pieces(bytes)), "cut, it is another body")
}
