/// A server's response. Redirects are not followed, and the body is not decoded.
public struct HTTPClientResponse: Sendable {
    public let status: Int
    /// In the order in which they came; trailers are dropped.
    public let fields: [(name: String, value: String)]
    public let body: [UInt8]

    /// The values of every field called `name`, in any case.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}
