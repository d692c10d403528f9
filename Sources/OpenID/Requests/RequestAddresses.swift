public import Directory
import OAuth
public import Values

/// Fetches request objects that clients keep at addresses of their own (OpenID Connect Core §6.2, RFC 9101 §5.2).
public struct RequestAddresses: Sendable {
    /// An object that is longer would not fit into a link either.
    public static let longestObject = 16 * 1024

    private let fetch: @Sendable (String, Client.ID) async throws -> [UInt8]

    /// `fetch` answers what is published at an address of a client, and throws when nothing is. No browser that brings one
    /// has shown who it is: what it causes is counted for the client.
    public init(fetch: @escaping @Sendable (String, Client.ID) async throws -> [UInt8]) { self.fetch = fetch }

    /// What is at `address` now. Only where `client` registered is ever asked: a request must not send us about.
    func object(at address: String, of client: Client) async throws -> String {
        guard client.openID.requestURIs.contains(where: { Self.place($0).elementsEqual(Self.place(address)) }) else {
            throw OAuthError.requestURIRefused("request_uri_unregistered", "it is not among the client's request_uris")
        }
        let body: [UInt8]
        do {
            body = try await fetch(String(decoding: Self.place(address), as: UTF8.self), client.id)
        } catch let error where !(error is CancellationError) {
            throw OAuthError.requestURIRefused("request_uri_unreachable", "nothing can be read there", "\(error)")
        }
        let text = String(decoding: body, as: UTF8.self)
        guard text.isStreamSafe else {
            throw OAuthError.requestURIRefused("request_uri_marks", "what is there has \(String.tooManyMarks)")
        }
        return text
    }

    /// An address without its fragment, which tells a cache alone when its copy is stale (Core §6.2): nothing is kept here.
    private static func place(_ address: String) -> Substring.UTF8View { address.prefix { $0 != "#" }.utf8 }
}
