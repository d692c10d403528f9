/// A message to a client's own server. Its body, or its signature, already proves that it comes from us.
public struct Callback: Sendable, Equatable {
    public let url: String
    public let body: String
    public let contentType: String
    /// The header `spindle-signature`, for a body that has no place for one.
    let signature: String?

    public init(url: String, body: String, contentType: String) {
        self.init(url: url, body: body, contentType: contentType, signature: nil)
    }

    init(url: String, body: String, contentType: String, signature: String?) {
        self.url = url
        self.body = body
        self.contentType = contentType
        self.signature = signature
    }
}
