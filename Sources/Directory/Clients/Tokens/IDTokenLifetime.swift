import Values

/// How long an ID token is valid: a client's `id_token_lifetime`.
enum IDTokenLifetime {
    static let standard: Duration = .hours(1)
    /// In seconds.
    static let allowed: ClosedRange<Int64> = 60...OpenIDSettings.longestJWT.seconds
}
