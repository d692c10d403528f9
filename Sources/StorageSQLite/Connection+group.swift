import Storage

extension Connection {
    /// Runs `members` in one transaction and commits it. A thrown error means that all of them are undone.
    func commit(_ members: [GroupMember], _ outcomes: inout [GroupMember.Outcome]) throws(StorageError) {
        if try attempt(members, &outcomes, .whereTheyWereMissed) { return }
        // Closures may run twice: see `Database`.
        outcomes.removeAll(keepingCapacity: true)
        _ = try attempt(members, &outcomes, .always)
    }

    /// False, with nothing done, when a member without a savepoint must be undone.
    private func attempt(
        _ members: [GroupMember], _ outcomes: inout [GroupMember.Outcome], _ savepoints: Savepoints
    ) throws(StorageError) -> Bool {
        try run(.beginWriting)
        do {
            for member in members {
                guard let outcome = try run(member, savepoints) else {
                    try run(.rollBack)
                    return false
                }
                outcomes.append(outcome)
            }
            try files?.confirm()
            try run(.commit)
            return true
        } catch {
            if isInTransaction { try? run(.rollBack) }
            throw error
        }
    }

    /// Nil when the member has thrown and cannot be undone alone.
    private func run(_ member: GroupMember, _ savepoints: Savepoints) throws(StorageError) -> GroupMember.Outcome? {
        let transaction = SQLiteTransaction(self, savepoints)
        let outcome = member.run(transaction)
        transaction.end()
        // After a full disk or an I/O error SQLite has rolled everything back, for every member.
        guard isInTransaction else { throw .rolledBack }
        switch transaction.undoing {
        case .nothing: return outcome
        case .savepoint:
            if outcome.hasThrown { try run(.undoMember) }
            try run(.closeMember)
            return outcome
        case .group(let statement):
            guard outcome.hasThrown else { return outcome }
            statement.needsSavepoint = true
            return nil
        }
    }
}
