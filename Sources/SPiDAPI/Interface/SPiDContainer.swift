import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import SPiD

/// The envelope of every answer of SPiD's API: `SPP Container`, version 0.2.
struct SPiDContainer {
    var route: SPiDRoute?
    var path: [String: String] = [:]
    /// The caller's allowance, once the caller is known.
    var allowance: RequestAllowance.State?
    /// Set if the caller wants its answers signed.
    var signSecret: SignSecret?

    func response(_ answer: SPiDAnswer) -> Response {
        var type = "element"
        var meta = JSON.null
        if case .collection(let count, let offset) = answer.kind {
            type = "collection"
            meta = .members(["count": .integer(Int64(count)), "offset": .integer(Int64(offset))])
        }
        return response(
            answer.status, object: answer.object, type: type, meta: meta, error: .null, data: answer.data)
    }

    func response(_ refusal: SPiDRefusal) -> Response {
        let error: JSON = .members([
            "code": .integer(Int64(refusal.status.code)), "type": "ApiException", "description": refusal.description,
        ])
        var response = response(
            refusal.status, object: "Exception", type: "error", meta: .null, error: error, data: .null)
        if let wait = refusal.retryAfter { response.headers[.retryAfter] = String(wait.wholeSeconds) }
        return response
    }

    private func response(
        _ status: Status, object: String, type: String, meta: JSON, error: JSON, data: JSON
    ) -> Response {
        var members: [JSON.Member] = [
            .init("name", "SPP Container"), .init("version", "0.2"), .init("api", 2),
            .init("object", .string(object)), .init("type", .string(type)),
            .init("code", .integer(Int64(status.code))), .init("request", allowance?.json ?? .null),
            .init("debug", debug), .init("meta", meta), .init("error", error),
        ]
        if let signSecret, data != .null {
            let signed = signSecret.signed(data)
            members += [
                .init("data", .string(signed.payload)), .init("algorithm", "HMAC-SHA256"),
                .init("sig", .string(signed.signature)),
            ]
        } else {
            members.append(.init("data", data))
        }
        return .json(.object(members), status: status)
    }

    private var debug: JSON {
        guard let route else { return .null }
        // Tokens are not repeated in an answer.
        let filter = path.filter { $0.key != "token" }.sorted { $0.key < $1.key }.map {
            JSON.Member($0.key, .string($0.value))
        }
        return .members([
            "route": .members([
                "name": .string(route.name), "url": .string("/api/2/" + route.path),
                "controller": .string("Api/2/" + route.controller),
            ]),
            // PHP, and so SPiD, writes an empty map as a list. Only here: where apps read a map, it stays one.
            "params": .members(["options": .array([]), "where": filter.isEmpty ? .array([]) : .object(filter)]),
        ])
    }
}
