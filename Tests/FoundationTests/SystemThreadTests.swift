import Foundation
import Testing
import Threads

/// Threads as this program starts them.
@Suite struct SystemThreadTests {
    @Test("a thread has its name, and a broken pipe does not end the program there")
    func thread() async throws {
        let (name, blocksBrokenPipes) = try await SystemThread.run(named: "thread-of-tests") {
            var signals = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &signals)
            let name = try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            return (name, sigismember(&signals, SIGPIPE) == 1)
        }
        #expect(name == "thread-of-tests\n")
        #expect(blocksBrokenPipes)
    }

    @Test("what the work of a thread throws, its caller hears")
    func error() async {
        struct Fault: Error {}
        await #expect(throws: Fault.self) { try await SystemThread.run(named: "thread-of-tests") { throw Fault() } }
    }

    @Test("each piece of work has a thread of its own")
    func apart() async throws {
        let one = DispatchSemaphore(value: 0)
        let other = DispatchSemaphore(value: 0)
        // Each waits for the other: on one thread they would wait for ever.
        async let first: Void = SystemThread.run(named: "first") {
            one.signal()
            other.wait()
        }
        try await SystemThread.run(named: "second") {
            one.wait()
            other.signal()
        }
        try await first
    }
}
