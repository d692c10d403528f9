import Storage
import TestSupport
import Testing
import Values

/// What waits to be delivered.
enum Waiting: String { case callback, notice }

extension World {
    /// How many of `kind` wait. Where none may leave, how many there were.
    func waiting(_ kind: Waiting) async throws -> Int {
        try await server.database.read { db in
            try db.rows("SELECT id FROM deliveries WHERE kind = \(kind.rawValue)").count
        }
    }

    /// Waits until the only one of `kind` that there is has been tried, and is to be tried again in a minute or so.
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
