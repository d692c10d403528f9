/// How long a server that shuts down waits.
enum DrainTimes {
    /// A connection without a request for this time is closed: one may have been on its way when the drain began.
    static let silence: Milliseconds = 500
    /// How long a running handshake may still take.
    static let handshake: Milliseconds = 2_000
}
