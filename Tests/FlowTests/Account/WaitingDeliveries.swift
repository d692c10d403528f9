import Storage
import TestSupport
import Testing
import Values

/// The kinds of deliveries.
enum Waiting: String { case callback, notice }

extension World {
    /// How many deliveries of `kind` are waiting. Where none may be sent, that is how many were queued.
    func waiting(_ kind: Waiting) async throws -> Int {
        try await server.database.read { db in
            try db.rows("SELECT id FROM deliveries WHERE kind = \(kind.rawValue) AND failed_at IS NULL").count
        }
    }

    /// Waits until the only delivery of `kind` has been tried and postponed, for about a minute.
    func untilPostponed(_ kind: Waiting) async throws {
        let soon = server.clock.now + .seconds(90)
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            let isPostponed = try await server.database.read { db in
                try !db.rows(
                    "SELECT id FROM deliveries WHERE kind = \(kind.rawValue) AND attempts = 1 AND due_at < \(soon)"
                ).isEmpty
            }
            if isPostponed { return }
            await Task.yield()
        }
        Issue.record("it was not tried")
    }
}
