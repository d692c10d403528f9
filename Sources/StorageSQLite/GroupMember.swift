import Storage

/// One call of `write`, whatever it returns.
struct GroupMember: Sendable {
    /// The result of the work, and how to answer its caller.
    struct Outcome {
        let hasThrown: Bool
        /// Answers after the commit, or with the failure of the whole group.
        let answer: ((any Error)?) -> Void
    }

    let run: @Sendable (SQLiteTransaction) -> Outcome
    /// Answers a caller whose work did not run.
    let refuse: @Sendable (any Error) -> Void

    init<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value, _ caller: CheckedContinuation<Value, any Error>
    ) {
        refuse = { caller.resume(throwing: $0) }
        run = { transaction in
            do {
                let value = try work(transaction)
                return Outcome(hasThrown: false) { failure in
                    if let failure { caller.resume(throwing: failure) } else { caller.resume(returning: value) }
                }
            } catch {
                // A member's own error is more useful than its group's failure.
                return Outcome(hasThrown: true) { _ in caller.resume(throwing: error) }
            }
        }
    }
}
