/// Limits how many databases tests have at once, so that no test waits for another's connections.
actor DatabaseLoans {
    private static let first = [Backend.sqlite: DatabaseLoans(most: 6), .postgresql: DatabaseLoans(most: 6)]
    private static let further = [Backend.sqlite: DatabaseLoans(most: 3), .postgresql: DatabaseLoans(most: 3)]
    /// How many databases this test has already. A further one comes from a separate pool: tests that each hold one
    /// and wait for another would wait for each other.
    @TaskLocal static var held = 0

    private let most: Int
    private var lent = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(most: Int) { self.most = most }

    /// Runs `body` with a database that has `content`.
    static func with<Value>(
        _ backend: Backend, _ content: Content, _ body: (LentDatabase) async throws -> Value
    ) async throws -> Value {
        guard let loans = (held == 0 ? first : further)[backend] else { preconditionFailure("no loans of \(backend)") }
        await loans.wait()
        do {
            let database = try await LentDatabase.take(backend, with: content)
            let value = try await $held.withValue(held + 1) { try await body(database) }
            if backend == .sqlite { await database.close() }
            await loans.release()
            return value
        } catch {
            await loans.release()
            throw error
        }
    }

    private func wait() async {
        guard lent == most else {
            lent += 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Hands the free place to the next waiting test.
    private func release() {
        guard !waiting.isEmpty else {
            lent -= 1
            return
        }
        waiting.removeFirst().resume()
    }
}
