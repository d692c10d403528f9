/// What a server answered. A redirect is an answer like any other; the body is as it came, not decoded.
public struct HTTPClientResponse: Sendable {
    public let status: Int
    /// In the order in which they came; trailers are dropped.
    public let fields: [(name: String, value: String)]
    public let body: [UInt8]

    /// The values of every field called `name`, whatever its case.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}
