import Foundation

/// Runs `work` on a thread of its own: it blocks, and the threads of tasks are few.
func onThread<Value: Sendable>(_ name: String, _ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread {
            // Named from within: on Linux Foundation gives the system the name of the running thread only.
            Thread.current.name = name
            continuation.resume(with: Result(catching: work))
        }
        thread.start()
    }
}
