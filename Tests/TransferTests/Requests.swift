import TestSupport
import Testing
import Transfer
import Values

/// Requests of tests to servers on this machine.
enum Requests {
    static let loopback = IPAddress("127.0.0.1")

    /// A request with generous limits.
    static func request(
        _ url: String, _ method: String = "GET", at address: IPAddress? = loopback,
        fields: [(name: String, value: String)] = [], body: [UInt8] = [], time: Duration = .seconds(120),
        connecting: Duration = .seconds(60), longestBody: Int = 1 << 20, longestHead: Int = 64 * 1024
    ) throws -> HTTPClientRequest {
        HTTPClientRequest(
            method, try #require(TransferURL(url)), at: try #require(address), fields: fields, body: body,
            limits: HTTPClientLimits(time: time, connecting: connecting, body: longestBody, head: longestHead))
    }

    static func client(
        keepsConnections: Bool = false, mostConnectionsToHost: Int? = nil,
        mayConnect: @escaping @Sendable (IPAddress) -> Bool = { _ in true }
    ) -> HTTPClient {
        HTTPClient(
            HTTPClientOptions(
                keepsConnections: keepsConnections, mostConnectionsToHost: mostConnectionsToHost,
                mayConnect: mayConnect))
    }
}
