/// Waits of a server that ends.
enum DrainTimes {
    /// A connection that asks nothing for so long is closed: a request may have been on its way when the drain began.
    static let silence: Milliseconds = 500
    /// A handshake under way gets this long.
    static let handshake: Milliseconds = 2_000
}
