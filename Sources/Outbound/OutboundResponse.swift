import Text

/// A server's response. Redirects are not followed.
public struct OutboundResponse: Sendable {
    public let status: Int
    public let body: [UInt8]
    /// `Cache-Control`, its values joined by commas (RFC 9110 §5.3).
    public let cacheControl: String?

    /// How long the response may be cached (RFC 9111 §5.2.2): zero for `no-store` or `no-cache`, nil without `max-age`.
    public var maxAge: Duration? {
        let directives = (cacheControl ?? "").split(separator: ",").map { directive in
            directive.trimming { $0 == " " || $0 == "\t" }.lowercased()
        }
        guard !directives.contains("no-store"), !directives.contains("no-cache") else { return .zero }
        for directive in directives where directive.hasPrefix("max-age=") {
            let digits = directive.dropFirst("max-age=".count).trimming { $0 == "\"" }
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { continue }
            // A number too large for us counts as very long (RFC 9111 §1.2.2).
            return .seconds(min(Int64(digits) ?? .max, 2_147_483_648))
        }
        return nil
    }
}
