public import Logging
import Text
import Transfer
public import Values

/// All requests to other servers.
///
/// Every host is looked up first, and refused unless all its addresses are allowed; then only the checked address is
/// connected to, so a name that changes in between has no effect. No redirects, no cookies, no credentials except those
/// given with a request, and limits on time and size. Each purpose, and each requester within it, has a quota
/// (`OutboundPurpose`).
public struct Outbound: Sendable {
    /// Far more than any key set or configuration of an honest server.
    public static let longestBody = 512 * 1024

    private let policy: OutboundPolicy
    private let logger: Logger
    private let client: HTTPClient
    private let quota: OutboundQuota
    private var purpose = OutboundPurpose.other
    private var requester: String?
    private var share: String?
    private var part: String?
    /// Shared by all, because it limits how many threads of the process hang in a dead name service.
    private static let names = NameService()

    public init(policy: OutboundPolicy, logger: Logger, clock: any WallClock = SystemClock()) {
        self.policy = policy
        quota = OutboundQuota(clock: clock)
        self.logger = logger
        client = HTTPClient(HTTPClientOptions { policy.mayAsk($0) })
    }

    /// The same, within the quota of `purpose`.
    public func asking(for purpose: OutboundPurpose) -> Outbound {
        var outbound = self
        outbound.purpose = purpose
        return outbound
    }

    /// The same, with its quota charged to `requester`, to the `share` that it has with others and, within it, to
    /// `part` of it; without this, to the host.
    public func asking(
        for purpose: OutboundPurpose, by requester: String, of share: String? = nil, part: String? = nil
    ) -> Outbound {
        var outbound = asking(for: purpose)
        (outbound.requester, outbound.share, outbound.part) = (requester, share, part)
        return outbound
    }

    /// Whether `url` is allowed, as far as is known without looking up its host.
    public func check(_ url: String) throws(OutboundError) { try policy.check(url) }

    /// Throws unless `url` is allowed. An http host is looked up: it may only be in allowed private ranges.
    public func checkLookedUp(_ url: String) async throws(OutboundError) {
        try policy.check(url)
        let target = try OutboundTarget(url)
        guard !target.isEncrypted else { return }
        do { _ = try await address(of: target) } catch { throw error as? OutboundError ?? .unknownHost }
    }

    /// Gets `url`. Any status counts as a response; a body longer than `limit` is an error.
    public func get(
        _ url: String, accept: String = "application/json", limit: Int = longestBody
    ) async throws(OutboundError) -> OutboundResponse {
        try await ask(try OutboundTarget(url), .get(accept: accept), limit: limit)
    }

    /// Gets `url` with parameters. They may be secrets, and never appear in logs and errors.
    public func get(
        _ url: String, query: KeyValuePairs<String, String>, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        try await ask(try OutboundTarget(url, query: query), .get(accept: "application/json"), limit: limit)
    }

    /// Gets `url` with `credentials`, which never appear in logs and errors.
    public func get(
        _ url: String, credentials: OutboundCredentials, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        let question = OutboundRequest.get(accept: "application/json", authorization: credentials.authorization)
        return try await ask(try OutboundTarget(url), question, limit: limit)
    }

    /// Posts `body` to `url`. Any status counts as a response; a body longer than `limit` bytes is an error.
    public func post(
        _ body: [UInt8], contentType: String, signature: String? = nil, to url: String, limit: Int = longestBody
    ) async throws(OutboundError) -> OutboundResponse {
        try await ask(
            try OutboundTarget(url), .post(body, contentType: contentType, signature: signature), limit: limit)
    }

    /// Posts a form to `url`, perhaps with credentials, as token endpoints require (RFC 6749 §3.2). The form may
    /// contain secrets, and never appears in logs and errors.
    public func post(
        form: [(String, String)], to url: String, credentials: OutboundCredentials? = nil, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        let body = Array(PercentEncoding.encode(pairs: form.map { (name: $0.0, value: $0.1) }).utf8)
        let question = OutboundRequest.form(body, authorization: credentials?.authorization)
        return try await ask(try OutboundTarget(url), question, limit: limit)
    }

    private func ask(
        _ target: OutboundTarget, _ question: OutboundRequest, limit: Int
    ) async throws(OutboundError) -> OutboundResponse {
        do {
            return try await quota.ask(for: purpose, by: requester ?? target.host, of: share, part: part) {
                let deadline = ContinuousClock.now + policy.longestWait
                let address = try await address(of: target)
                return try await fetch(target, at: address, question, limit: limit, until: deadline)
            }
        } catch {
            let reason = error as? OutboundError ?? OutboundError(error, limit: limit)
            // The query of a URL may contain a user's secret.
            logger.log(
                level: .warning, "another server was not asked",
                metadata: ["host": "\(target.host)", "reason": "\(reason)"], isOfServer: true)
            throw reason
        }
    }

    private func address(of target: OutboundTarget) async throws -> IPAddress {
        let addresses =
            if let literal = IPAddress(target.host) { [literal] } else {
                try await Self.names.addresses(
                    of: target.host, within: policy.longestWait, for: purpose.rawValue,
                    by: share ?? requester ?? target.host)
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
