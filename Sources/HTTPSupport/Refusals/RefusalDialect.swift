package import HTTP

/// How requests below a path are refused, whether or not an endpoint of it was reached.
public struct RefusalDialect: Sendable {
    package let prefix: String
    let exceptions: Set<String>
    package let refusal: @Sendable (Status, String) -> Response

    /// `refusal` makes the answer of a status and a hint. `prefix` has no slash at its end.
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
