import CLinux
import Glibc

/// A system thread, for everything here that blocks or must not wait for tasks.
public enum SystemThread {
    /// The system cannot start a thread; `code` is the errno.
    public struct Unavailable: Error, Sendable, Equatable, CustomStringConvertible {
        public let code: Int32

        public var description: String { "the system cannot start a thread (error \(code))" }
    }

    /// Linux's default, whatever `ulimit -s` was when the program started.
    private static let stackBytes = 8 * 1024 * 1024

    private final class Start {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs `body` on a new thread, which ends with it. `name` has at most 15 bytes of ASCII: Linux keeps no more.
    ///
    /// SIGPIPE is blocked there: a peer that hangs up makes the write fail, and does not end the program.
    public static func start(named name: String, _ body: @escaping @Sendable () -> Void) throws(Unavailable) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                unsafe linux_name_this_thread(start.name)
                SystemThread.blockBrokenPipes()
                start.body()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw Unavailable(code: code)
        }
    }

    /// Does `work`, which blocks, on a new thread: the threads of tasks are few. Throws what it throws, or
    /// `Unavailable`.
    public static func run<Value: Sendable>(
        named name: String, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            do throws(Unavailable) {
                try start(named: name) { continuation.resume(with: Result(catching: work)) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private static func blockBrokenPipes() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

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
