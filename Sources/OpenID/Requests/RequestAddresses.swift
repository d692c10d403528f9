public import Directory
import OAuth
import Values

/// Fetches request objects that clients publish at their own URLs (OpenID Connect Core §6.2, RFC 9101 §5.2).
public struct RequestAddresses: Sendable {
    /// The longest request object: a longer one would not fit into a link either.
    public static let longestObject = 16 * 1024

    private let fetch: @Sendable (String, Client, _ browser: String) async throws -> [UInt8]

    /// `fetch` returns what is published at a URL of a client, and throws when there is nothing. The browser that
    /// brings the URL is not authenticated, so the request counts against its IP address first, and then against the
    /// client.
    public init(fetch: @escaping @Sendable (String, Client, _ browser: String) async throws -> [UInt8]) {
        self.fetch = fetch
    }

    /// The current object at `address`, which a browser at the IP address `browser` brought. Only URLs that the client
    /// registered are fetched, so that a request cannot direct us elsewhere.
    func object(at address: String, of client: Client, for browser: String) async throws -> String {
        guard client.openID.requestURIs.contains(where: { Self.place($0).elementsEqual(Self.place(address)) }) else {
            throw OAuthError.requestURIRefused("request_uri_unregistered", "it is not among the client's request_uris")
        }
        let body: [UInt8]
        do {
            body = try await fetch(String(decoding: Self.place(address), as: UTF8.self), client, browser)
        } catch let error where !(error is CancellationError) {
            throw OAuthError.requestURIRefused("request_uri_unreachable", "nothing can be read there", "\(error)")
        }
        let text = String(decoding: body, as: UTF8.self)
        guard text.isStreamSafe else {
            throw OAuthError.requestURIRefused("request_uri_marks", "its content has \(String.tooManyMarks)")
        }
        return text
    }

    /// A URL without its fragment, which only tells a cache that its copy is stale (Core §6.2). We cache nothing.
    private static func place(_ address: String) -> Substring.UTF8View { address.prefix { $0 != "#" }.utf8 }
}
