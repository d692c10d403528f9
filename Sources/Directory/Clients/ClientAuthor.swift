/// Who makes or changes a client.
public enum ClientAuthor: Sendable {
    /// The platform, which alone lends a client the APIs of other merchants.
    case platform
    /// An administrator of the client's own merchant.
    case merchant
    /// The client itself, by dynamic registration (RFC 7591, RFC 7592).
    case itself
}
