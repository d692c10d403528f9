import Administration
import HTTP
import HTTPSupport
import JSON
import OAuth

/// Calls that are made once, though they are sent again: those with an `Idempotency-Key`
/// (draft-ietf-httpapi-idempotency-key-header-07).
struct RepeatedCalls: Sendable {
    /// The call that this task makes. A value of the task, so that the gate finds it where the administrator is known.
    @TaskLocal static var current: IdempotentAnswers.Call?

    static let header = Operation.Parameter(
        "Idempotency-Key", in: .header, .text(1...255),
        "the answer is given again, for a day, to the same call with the same key, which then does nothing more")

    let answers: IdempotentAnswers

    /// The answer to `request`: an earlier one to the same call, or that of `make`.
    func answer(
        _ request: Request, by administrator: Administrator, _ make: () async throws -> Response
    ) async throws -> Response {
        guard let key = request.text(of: "Idempotency-Key") else { return try await make() }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem(
                status: .badRequest, detail: "'Idempotency-Key' must be 1 to 255 visible ASCII characters.")
        }
        let asked = Array("\(request.method.rawValue) \(request.target.path)\n".utf8) + (try Form.bytes(of: request))
        let call = answers.call(key, asking: asked, by: administrator)
        if let earlier = try await earlier(call) { return earlier }
        do {
            let response = try await Self.$current.withValue(call) { try await make() }
            try await answers.keep(IdempotentAnswers.Answer(response), to: call)
            return response
        } catch is IdempotentAnswers.Made {
            guard let earlier = try await earlier(call) else { throw Self.unanswered }
            return earlier
        } catch let refusal where Self.isRefusal(refusal) {
            try await answers.forget(call)
            throw refusal
        }
    }

    /// Whether the handler refused the call. After another error its change may have been made.
    private static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case is AdministrationRefusal, is PreconditionFailed, is JSONFault: true
        case let problem as Problem: problem.status.code < 500
        case let refusal as OAuthError: refusal.status.code < 500
        default: false
        }
    }

    private func earlier(_ call: IdempotentAnswers.Call) async throws -> Response? {
        switch try await answers.earlier(call) {
        case .nothing: return nil
        case .answer(let answer): return Response(answer)
        case .another:
            throw Problem(status: .conflict, detail: "Another call was made with this Idempotency-Key.")
        case .unanswered: throw Self.unanswered
        }
    }

    private static let unanswered = Problem(
        status: .conflict,
        detail:
            "A call with this Idempotency-Key has done its work and not answered yet: try again, or look what it did.")
}

extension IdempotentAnswers.Answer {
    fileprivate init(_ response: Response) {
        let body =
            switch response.body {
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            case .text(let text): text
            case .stream: ""
            }
        self.init(status: response.status.code, body: body)
    }
}

extension Response {
    fileprivate init(_ answer: IdempotentAnswers.Answer) {
        let status = [Status.ok, .created, .accepted, .noContent].first { $0.code == answer.status } ?? .ok
        guard !answer.body.isEmpty else {
            self.init(status: status)
            return
        }
        self = .json(bytes: Array(answer.body.utf8))
        self.status = status
    }
}

extension Request {
    /// The value of a field that only administration reads.
    func text(of name: String) -> String? { FieldName(name).flatMap { headers[$0] } }

    /// The entity tags of the document that it changes, as it was read.
    var ifMatch: String? { text(of: "If-Match") }
}

extension Response {
    /// A document with its entity tag.
    static func tagged(_ document: JSON) -> Response {
        var response = Response.json(document)
        response.headers[.eTag] = EntityTag(of: document).text
        return response
    }
}

extension Operation {
    static let ifMatch = Parameter(
        "If-Match", in: .header, .text, "`ETag` of the document as it was read: 412 if it has changed since")
}
