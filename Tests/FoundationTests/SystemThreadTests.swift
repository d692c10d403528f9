import Foundation
import Testing
import Threads

/// Threads as this program starts them.
@Suite struct SystemThreadTests {
    @Test("A system thread has the name it was given, and a broken pipe in it does not end the program")
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

    @Test("An error in the work of a system thread reaches the caller")
    func error() async {
        struct Fault: Error {}
        await #expect(throws: Fault.self) { try await SystemThread.run(named: "thread-of-tests") { throw Fault() } }
    }

    @Test("Each piece of work on a system thread has a thread of its own")
    func apart() async throws {
        let one = DispatchSemaphore(value: 0)
        let other = DispatchSemaphore(value: 0)
        // Each waits for the other: one thread could run neither.
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
