import AsyncHTTPClient
public import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import Values

/// The one way out to other servers.
///
/// Every host is looked up first and refused unless all its addresses may be asked; then only the checked address is
/// connected to, so that a name which changes its mind between the two leads nowhere. No redirects, no cookies, no
/// credentials but those that a form is handed over with, and an end to time and size.
public struct Outbound: Sendable {
    /// No key set and no configuration of an honest server comes near it.
    public static let longestBody = 512 * 1024

    private let policy: OutboundPolicy
    private let logger: Logger

    public init(policy: OutboundPolicy, logger: Logger) {
        self.policy = policy
        self.logger = logger
    }

    /// Whether `url` could be asked at all, as far as that shows without its host being looked up.
    public func check(_ url: String) throws(OutboundError) { try policy.check(url) }

    /// Asks for `url`. Any status is an answer; a body longer than `limit` is not.
    public func get(
        _ url: String, accept: String = "application/json", limit: Int = longestBody
    ) async throws(OutboundError) -> OutboundResponse {
        try await ask(try OutboundTarget(url), .get(accept: accept), limit: limit)
    }

    /// Asks for `url` with parameters, which may be secrets: they are in no log and no error.
    public func get(
        _ url: String, query: KeyValuePairs<String, String>, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        try await ask(try OutboundTarget(url, query: query), .get(accept: "application/json"), limit: limit)
    }

    /// Asks for `url` as whoever has `credentials`: they are in no log and no error.
    public func get(
        _ url: String, credentials: OutboundCredentials, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        let question = OutboundQuestion.get(accept: "application/json", authorization: credentials.authorization)
        return try await ask(try OutboundTarget(url), question, limit: limit)
    }

    /// Hands `body` to `url`. Any status is an answer; of what it says, no more than `limit` bytes are taken.
    public func post(
        _ body: [UInt8], contentType: String, to url: String, limit: Int = longestBody
    ) async throws(OutboundError) -> OutboundResponse {
        try await ask(try OutboundTarget(url), .post(body, contentType: contentType), limit: limit)
    }

    /// Hands a form to `url`, perhaps with credentials, as token endpoints want it (RFC 6749 §3.2). What is in it may be
    /// secrets: it is in no log and no error.
    public func post(
        form: [(String, String)], to url: String, credentials: OutboundCredentials? = nil, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        let body = Array(OutboundForm.encode(form).utf8)
        let question = OutboundQuestion.form(body, authorization: credentials?.authorization)
        return try await ask(try OutboundTarget(url), question, limit: limit)
    }

    private func ask(
        _ target: OutboundTarget, _ question: OutboundQuestion, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        do {
            return try await Self.within(policy.longestWait) {
                let address = try await self.address(of: target)
                return try await self.fetch(target, at: address, question, limit: limit)
            }
        } catch {
            let reason = error as? OutboundError ?? .unreachable
            // The query of a URL may be somebody's secret.
            logger.warning("another server was not asked", metadata: ["host": "\(target.host)", "reason": "\(reason)"])
            throw reason
        }
    }

    private func address(of target: OutboundTarget) async throws -> IPAddress {
        let addresses =
            if let literal = IPAddress(target.host) { [literal] } else {
                try await NameService.addresses(of: target.host)
            }
        try policy.check(addresses, of: target)
        guard let first = addresses.first else { throw OutboundError.unknownHost }
        return first
    }

    private func fetch(
        _ target: OutboundTarget, at address: IPAddress, _ question: OutboundQuestion, limit: Int
    ) async throws -> OutboundResponse {
        var configuration = HTTPClient.Configuration()
        // The name stays in Host, SNI and the check of the certificate; the connection goes to the address.
        configuration.dnsOverride = [target.host: address.description]
        // RFC 8996: TLS 1.0 and 1.1 are over, though the library would still take them.
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.minimumTLSVersion = .tlsv12
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .init(OutboundPolicy.longestConnecting)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        // A client for one question: such questions are rare, and no connection outlives the check of its address.
        let client = HTTPClient(configuration: configuration)
        do {
            var request = HTTPClientRequest(url: target.url)
            question.put(into: &request)
            let response = try await client.execute(request, timeout: .init(policy.longestWait))
            let body = try await response.body.collect(upTo: limit)
            try await client.shutdown()
            let cacheControl = response.headers["cache-control"]
            return OutboundResponse(
                status: Int(response.status.code), body: Array(body.readableBytesView),
                cacheControl: cacheControl.isEmpty ? nil : cacheControl.joined(separator: ","))
        } catch {
            try? await client.shutdown()
            if error is NIOTooManyBytesError { throw OutboundError.tooLarge(longest: limit) }
            throw error
        }
    }

    /// Runs `work` and ends it when it takes longer than `limit`.
    private static func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try await Task.sleep(for: limit)
                throw OutboundError.timedOut
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }
}
