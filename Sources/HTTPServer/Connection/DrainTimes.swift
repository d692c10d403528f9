/// How long a server that shuts down waits.
enum DrainTimes {
    /// A connection is closed after this time without a request: one may have been on its way when the drain began.
    static let silence: Milliseconds = 500
    /// How long a handshake under way may still take.
    static let handshake: Milliseconds = 2_000
}
