public import Logging
import Text
import Transfer
public import Values

/// The one way out to other servers.
///
/// Every host is looked up first and refused unless all its addresses may be asked; then only the checked address is
/// connected to, so that a name which changes its mind between the two leads nowhere. No redirects, no cookies, no
/// credentials but those that a form is handed over with, and an end to time and size. Each purpose, and each asker within
/// it, has a quota (`OutboundPurpose`).
public struct Outbound: Sendable {
    /// No key set and no configuration of an honest server comes near it.
    public static let longestBody = 512 * 1024

    private let policy: OutboundPolicy
    private let logger: Logger
    private let client: HTTPClient
    private let quota: OutboundQuota
    private var purpose = OutboundPurpose.other
    /// One for all: the threads that hang in a dead name service are the process's.
    private static let names = NameService()

    public init(policy: OutboundPolicy, logger: Logger, clock: any WallClock = SystemClock()) {
        self.policy = policy
        quota = OutboundQuota(clock: clock)
        self.logger = logger
        client = HTTPClient(HTTPClientOptions { policy.mayAsk($0) })
    }

    /// The same way out, within the quota of `purpose`.
    public func asking(for purpose: OutboundPurpose) -> Outbound {
        var outbound = self
        outbound.purpose = purpose
        return outbound
    }

    /// Whether `url` could be asked at all, as far as that shows without its host being looked up.
    public func check(_ url: String) throws(OutboundError) { try policy.check(url) }

    /// Asks for `url`. Any status is an answer; a body longer than `limit` is not. `asker` is at whose expense it is: the
    /// host itself unless said.
    public func get(
        _ url: String, accept: String = "application/json", limit: Int = longestBody, by asker: String? = nil
    ) async throws(OutboundError) -> OutboundResponse {
        try await ask(try OutboundTarget(url), .get(accept: accept), limit: limit, by: asker)
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
        let question = OutboundRequest.get(accept: "application/json", authorization: credentials.authorization)
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
        let body = Array(PercentEncoding.encode(pairs: form.map { (name: $0.0, value: $0.1) }).utf8)
        let question = OutboundRequest.form(body, authorization: credentials?.authorization)
        return try await ask(try OutboundTarget(url), question, limit: limit)
    }

    private func ask(
        _ target: OutboundTarget, _ question: OutboundRequest, limit: Int, by asker: String? = nil
    ) async throws(OutboundError) -> OutboundResponse {
        do {
            return try await quota.ask(for: purpose, by: asker ?? target.host) {
                let deadline = ContinuousClock.now + policy.longestWait
                let address = try await address(of: target)
                return try await fetch(target, at: address, question, limit: limit, until: deadline)
            }
        } catch {
            let reason = error as? OutboundError ?? OutboundError(error, limit: limit)
            // The query of a URL may be somebody's secret.
            logger.warning("another server was not asked", metadata: ["host": "\(target.host)", "reason": "\(reason)"])
            throw reason
        }
    }

    private func address(of target: OutboundTarget) async throws -> IPAddress {
        let addresses =
            if let literal = IPAddress(target.host) { [literal] } else {
                try await Self.names.addresses(of: target.host, within: policy.longestWait, for: purpose.rawValue)
            }
        try policy.check(addresses, of: target)
        guard let first = addresses.first else { throw OutboundError.unknownHost }
        return first
    }

    private func fetch(
        _ target: OutboundTarget, at address: IPAddress, _ question: OutboundRequest, limit: Int,
        until deadline: ContinuousClock.Instant
    ) async throws -> OutboundResponse {
        let limits = HTTPClientLimits(
            time: ContinuousClock.now.duration(to: deadline), connecting: OutboundPolicy.longestConnecting, body: limit)
        // The name stays in Host, SNI and the check of the certificate; the connection goes to the address.
        let request = HTTPClientRequest(
            question.method, target.url, at: address, fields: question.fields, body: question.body, limits: limits)
        let response = try await client.send(request)
        let cacheControl = response.values(of: "cache-control")
        return OutboundResponse(
            status: response.status, body: response.body,
            cacheControl: cacheControl.isEmpty ? nil : cacheControl.joined(separator: ","))
    }
}
