import AsyncHTTPClient
import Foundation
public import JOSE
import NIOCore
import NIOHTTP1

extension TestServer {
    private static let httpClient: HTTPClient = {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: .seconds(60)))
        // Races are run with as many connections as there are runners.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

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

    /// Posts a form whose fields were put together before.
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
    public func send(_ method: String, _ path: String, json: JSON, bearer: String? = nil) async throws -> Answer {
        try await send(
            method, path, body: Array(json.text.utf8), bearer: bearer, headers: ["Content-Type": "application/json"])
    }

    public func send(
        _ method: String, _ path: String, body: [UInt8] = [], bearer: String? = nil, cookies: [String: String] = [:],
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: origin + path)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if !cookies.isEmpty {
            request.headers.add(
                name: "Cookie", value: cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
        }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await Self.httpClient.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
            body: String(buffer: bytes))
    }

    public static func encode(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")) ?? ""
    }
}
