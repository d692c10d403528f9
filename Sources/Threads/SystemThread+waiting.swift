import CLinux
import Glibc

extension SystemThread {
    /// How many processors this process may use, and so how many threads can work at once.
    public static var processors: Int { max(1, Int(linux_processors())) }

    /// Blocks the calling thread for `time`.
    public static func sleep(for time: Duration) {
        let (seconds, attoseconds) = time.components
        var wanted = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        // A signal ends the call early and leaves the rest.
        while unsafe nanosleep(&wanted, &rest) != 0, errno == EINTR { wanted = rest }
    }
}
