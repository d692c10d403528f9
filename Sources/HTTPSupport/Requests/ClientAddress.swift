package import HTTP
import Text
public import Values

/// Determines a request's IP address, trusting only the proxies that the operator named.
public struct ClientAddress: Sendable {
    private let proxies: [CIDR]

    public init(trustedProxies: [CIDR]) { self.proxies = trustedProxies }

    /// The client's address as text. IPv6 is cut to its /64, which is what one customer gets.
    package func of(_ request: Request) -> String {
        guard let peer = request.peer.flatMap({ IPAddress($0) }) else { return "local" }
        return (isTrusted(peer) ? forwarded(request) ?? peer : peer).subscriber
    }

    private func isTrusted(_ address: IPAddress) -> Bool { proxies.contains { $0.contains(address) } }

    /// The nearest address that is not a trusted proxy. Both headers at once tell nothing: a proxy sets the one it
    /// knows and passes on the other as the client wrote it.
    private func forwarded(_ request: Request) -> IPAddress? {
        let forwarded = request.headers[values: .forwarded]
        let xForwardedFor = request.headers[values: .xForwardedFor]
        guard forwarded.isEmpty != xForwardedFor.isEmpty else { return nil }
        let hops =
            forwarded.isEmpty
            ? xForwardedFor.flatMap { $0.split(separator: ",") }.map(Self.host)
            : forwarded.flatMap { $0.split(separator: ",") }.map(Self.forwardedFor)
        for hop in hops.reversed() {
            guard let hop, let address = IPAddress(hop) else { return nil }
            if !isTrusted(address) { return address }
        }
        return nil
    }

    /// The `for` of one element of a Forwarded header (RFC 7239 §4).
    private static func forwardedFor(_ element: Substring) -> String? {
        for pair in element.split(separator: ";") {
            let halves = pair.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[0].trimming(while: \.isWhitespace).lowercased() == "for" else { continue }
            return host(halves[1].filter { $0 != "\"" }[...])
        }
        return nil
    }

    /// The address without brackets and port.
    private static func host(_ text: Substring) -> String? {
        let text = String(text.trimming(while: \.isWhitespace))
        if text.hasPrefix("[") { return text.dropFirst().split(separator: "]").first.map(String.init) }
        return text.filter { $0 == ":" }.count == 1 ? text.split(separator: ":").first.map(String.init) : text
    }
}
