import Foundation

/// Runs `work` on a thread of its own: it blocks, and there are few threads for tasks.
func onThread<Value: Sendable>(_ name: String, _ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread {
            // Named from inside: on Linux, Foundation passes only the running thread's name to the system.
            Thread.current.name = name
            continuation.resume(with: Result(catching: work))
        }
        thread.start()
    }
}
