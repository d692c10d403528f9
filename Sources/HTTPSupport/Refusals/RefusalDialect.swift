package import HTTP

/// The format of errors for requests below a path, whether or not they reached an endpoint.
public struct RefusalDialect: Sendable {
    package let prefix: String
    let exceptions: Set<String>
    package let refusal: @Sendable (Status, String) -> Response

    /// `refusal` makes the response for a status and a hint. `prefix` has no trailing slash.
    package init(
        below prefix: String, except exceptions: Set<String> = [],
        refusal: @escaping @Sendable (Status, String) -> Response
    ) {
        self.prefix = prefix
        self.exceptions = exceptions
        self.refusal = refusal
    }

    package func covers(_ path: String) -> Bool {
        (path == prefix || path.hasPrefix(prefix + "/")) && !exceptions.contains(path)
    }
}
