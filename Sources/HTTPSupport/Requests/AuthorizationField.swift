/// An `Authorization` field: its scheme, and the credentials after it (RFC 9110 §11.4).
package struct AuthorizationField {
    private let scheme: Substring
    package let credentials: Substring

    /// `1*SP` is between the two; a scheme alone has no credentials.
    package init(_ text: String) {
        scheme = text.prefix { $0 != " " }
        credentials = text.dropFirst(scheme.count).drop { $0 == " " }
    }

    /// Whether it is of `scheme`, in any case (§11.1).
    package func isOf(_ scheme: String) -> Bool { self.scheme.lowercased() == scheme }
}
