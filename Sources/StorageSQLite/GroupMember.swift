import Storage

/// One call of `write`. It is not generic, because the runtime would look up its types for every call.
struct GroupMember: Sendable {
    /// The result of the work, which its caller learns after the commit.
    struct Outcome {
        let caller: CheckedContinuation<Void, any Error>
        /// What the work has thrown.
        let error: (any Error)?

        var hasThrown: Bool { error != nil }

        /// Answers after the commit, or with the failure of the whole group. A member's own error is more useful.
        func answer(_ failure: (any Error)?) {
            if let error = error ?? failure { caller.resume(throwing: error) } else { caller.resume() }
        }
    }

    let work: @Sendable (SQLiteTransaction) throws -> Void
    let caller: CheckedContinuation<Void, any Error>

    func run(_ transaction: SQLiteTransaction) -> Outcome {
        do {
            try work(transaction)
            return Outcome(caller: caller, error: nil)
        } catch {
            return Outcome(caller: caller, error: error)
        }
    }

    /// Answers a caller whose work did not run.
    func refuse(_ error: any Error) { caller.resume(throwing: error) }
}
