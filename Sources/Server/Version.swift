extension Spindle {
    /// What `spindle --version` and SPiD's `version` endpoint say.
    public static let version = "0.1.0"
}
