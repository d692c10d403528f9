/// A message to a client's own server. Its body already contains the proof that it comes from us.
public struct Callback: Sendable, Equatable {
    public let url: String
    public let body: String
    public let contentType: String

    public init(url: String, body: String, contentType: String) {
        self.url = url
        self.body = body
        self.contentType = contentType
    }
}
