import Cryptography
import Values

/// How long to wait after a failed attempt: a minute, then twice as long each time, at most an hour; and up to a
/// quarter more.
enum Backoff {
    private static let shortest: Duration = .minutes(1)
    private static let longest: Duration = .hours(1)

    /// How long a delivery that could not be attempted is left alone.
    static let moment: Duration = .seconds(10)
    /// How long a delivery waits while its receiver takes others: a second, and longer behind many, but at most a tenth
    /// of the time for which it is still useful.
    static func turn(behind many: Int, left: Duration) -> Duration {
        min(.seconds(1) + .milliseconds(50) * many, .minutes(1), max(.seconds(1), left / 10))
    }

    /// How long a delivery to a failed receiver is left alone when `failing` receivers of its share have failed: about
    /// as long as one round of all takes if none answers, so that a backlog is not read over and over. One with only
    /// the time `left` is retried within a tenth of it.
    static func pause(among failing: Int, left: Duration) -> Duration {
        min(moment + .milliseconds(500) * failing, .minutes(10), max(moment, left / 10))
    }

    /// Adds up to a quarter at random, so that deliveries that failed together are not retried together.
    static func pause(after attempt: Int, random: any RandomSource) -> Duration {
        let doublings = min(max(attempt - 1, 0), 6)
        let pause = min(shortest * (1 << doublings), longest)
        let share = random.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        return pause + .milliseconds(pause.milliseconds * share / (4 * 65536))
    }
}
