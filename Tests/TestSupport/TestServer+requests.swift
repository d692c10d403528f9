import Foundation
public import JSON
import Transfer
import Values

extension TestServer {
    /// Keeps up to 64 connections, so that races run in parallel. Every address is allowed: all servers are on this
    /// machine.
    private static let client = HTTPClient(
        HTTPClientOptions(keepsConnections: true, mostConnectionsToHost: 64) { _ in true })
    private static let limits = HTTPClientLimits(time: .seconds(60), connecting: .seconds(10), body: 1 << 20)

    public struct Unsendable: Error { let url: String }

    public func get(
        _ path: String, bearer: String? = nil, cookies: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send("GET", path, bearer: bearer, cookies: cookies, headers: headers)
    }

    /// Posts a form.
    public func post(
        _ path: String, _ form: KeyValuePairs<String, String>, basic: (id: String, secret: String)? = nil,
        bearer: String? = nil, cookies: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Answer {
        try await post(
            path, form: form.map { ($0.key, $0.value) }, basic: basic, bearer: bearer, cookies: cookies,
            headers: headers)
    }

    /// Posts a form whose fields are already in a list.
    public func post(
        _ path: String, form: [(String, String)], basic: (id: String, secret: String)? = nil,
        bearer: String? = nil, cookies: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Answer {
        let body = form.map { "\(Self.encode($0.0))=\(Self.encode($0.1))" }.joined(separator: "&")
        var headers = headers
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        if let basic {
            let pair = "\(Self.encode(basic.id)):\(Self.encode(basic.secret))"
            headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
        }
        return try await send("POST", path, body: Array(body.utf8), bearer: bearer, cookies: cookies, headers: headers)
    }

    /// Sends JSON.
    public func send(
        _ method: String, _ path: String, json: JSON, bearer: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send(
            method, path, body: Array(json.text.utf8), bearer: bearer,
            headers: headers.merging(["Content-Type": "application/json"]) { given, _ in given })
    }

    public func send(
        _ method: String, _ path: String, body: [UInt8] = [], bearer: String? = nil, cookies: [String: String] = [:],
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var fields = headers.map { (name: $0.key, value: $0.value) }
        if let bearer { fields.append(("Authorization", "Bearer \(bearer)")) }
        if !cookies.isEmpty {
            fields.append(("Cookie", cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")))
        }
        let url = origin + Self.written(path)
        guard let parsed = TransferURL(url), let address = IPAddress(parsed.host) else { throw Unsendable(url: url) }
        let response = try await Self.client.send(
            HTTPClientRequest(method, parsed, at: address, fields: fields, body: body, limits: Self.limits))
        return Answer(
            status: response.status, headers: response.fields, body: String(decoding: response.body, as: UTF8.self))
    }

    /// `path` without its fragment, with characters that no URL may hold encoded, as browsers send it.
    private static func written(_ path: String) -> String {
        path.prefix { $0 != "#" }.utf8.map { byte in
            let isPlain = byte > 0x20 && byte < 0x7F && !"\\\"<>^`{|}".utf8.contains(byte)
            return isPlain
                ? String(UnicodeScalar(byte))
                : "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    public static func encode(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")) ?? ""
    }
}
