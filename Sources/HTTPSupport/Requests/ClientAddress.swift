package import HTTP
import Text
public import Values

/// Determines a request's IP address, trusting only the proxies that the operator named.
public struct ClientAddress: Sendable {
    private let proxies: [CIDR]

    public init(trustedProxies: [CIDR]) { self.proxies = trustedProxies }

    /// The client's address as text. IPv6 is cut to its /64, which is what one customer gets.
    package func of(_ request: Request) -> String { whole(request)?.subscriber ?? Self.local }

    /// The client's whole address, for the log.
    func forLog(_ request: Request) -> String { whole(request)?.description ?? Self.local }

    /// The address of a connection whose request could not be read, for the log.
    static func forLog(peer: String?) -> String { peer.flatMap { IPAddress($0) }?.description ?? local }

    private static let local = "local"

    private func whole(_ request: Request) -> IPAddress? {
        guard let peer = request.peer.flatMap({ IPAddress($0) }) else { return nil }
        return isTrusted(peer) ? forwarded(request) ?? peer : peer
    }

    /// Whether a trusted proxy sent the request.
    func isOfProxy(_ request: Request) -> Bool {
        request.peer.flatMap { IPAddress($0) }.map(isTrusted) ?? false
    }

    private func isTrusted(_ address: IPAddress) -> Bool { proxies.contains { $0.contains(address) } }

    /// The nearest address that is not a trusted proxy. If both headers are present, neither is trusted: a proxy sets
    /// the one it knows and passes on the other as the client wrote it.
    private func forwarded(_ request: Request) -> IPAddress? {
        let forwarded = request.headers[values: .forwarded]
        let xForwardedFor = request.headers[values: .xForwardedFor]
        guard forwarded.isEmpty != xForwardedFor.isEmpty else { return nil }
        let hops =
            forwarded.isEmpty
            ? xForwardedFor.flatMap { $0.split(separator: ",") }.map { ForwardedField.host($0) }
            : forwarded.flatMap { ForwardedField.hops(in: $0) }
        for hop in hops.reversed() {
            guard let hop, let address = IPAddress(hop) else { return nil }
            if !isTrusted(address) { return address }
        }
        return nil
    }
}
