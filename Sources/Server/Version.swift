extension Spindle {
    /// The answer of `spindle --version` and of SPiD's `version` endpoint.
    public static let version = "0.1.0"
}
