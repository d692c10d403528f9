import Synchronization

/// The caller of a piece of work, answered only once, by the first result.
final class Caller<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

    init(_ continuation: CheckedContinuation<Value, any Error>) { self.continuation = Mutex(continuation) }

    func answer(_ result: Result<Value, any Error>) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(with: result)
    }

    /// Answers with what `job` returns or throws; work that lost its races has no answer yet.
    func answer(_ job: () throws -> Value) throws(LostRaces) {
        do {
            answer(.success(try job()))
        } catch let lost as LostRaces {
            throw lost
        } catch {
            answer(.failure(error))
        }
    }
}
