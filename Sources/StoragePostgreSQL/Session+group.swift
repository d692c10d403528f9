import Storage

extension Session {
    /// Runs statements of several callers, all of one kind, in one round trip; INSERTs in one transaction. Returns
    /// those that are left to be run each for itself: what fails together says nothing about one of them.
    func run(_ group: [LoneStatement], answeredIn time: Duration) -> [LoneStatement] {
        let known = group.filter { connection?.hasPrepared($0.sql) ?? false }
        guard group.count > 1, !known.isEmpty else {
            // Running it prepares it, also for the next group.
            runAlone(group[0], answeredIn: time)
            return Array(group.dropFirst())
        }
        let unknown = known.count == group.count ? [] : group.filter { !(connection?.hasPrepared($0.sql) ?? false) }
        guard let answers = answers(to: known, within: time) else { return unknown + known }
        for (statement, answer) in zip(known, answers) { statement.answer(answer) }
        return unknown
    }

    func runAlone(_ statement: LoneStatement, answeredIn time: Duration) {
        let sql = statement.sql
        statement.caller.answer(
            Result {
                switch statement.kind {
                case .select: .rows(try run(.read, answeredIn: time) { db in try db.rows(sql) })
                case .insert: .stored(try run(.guardedWrite, answeredIn: time) { db in try db.execute(sql) })
                }
            })
    }

    /// The answers to `group`. Nil when one failed, or the connection did.
    private func answers(to group: [LoneStatement], within time: Duration) -> [Answer]? {
        guard let connection else { return nil }
        connection.answerTime = time
        let statements = group.map(\.sql)
        do throws(Failure) {
            switch group[0].kind {
            case .select: return try connection.runAll(statements)
            case .insert:
                let all = try connection.runAll([Mode.guardedWrite.opening] + statements + [Self.commit])
                if all.last?.tag == "COMMIT" { return Array(all[1...statements.count]) }
            }
        } catch {
            if error.remedy == .reconnect { disconnect() } else { post(Self.rollback, on: connection) }
        }
        return nil
    }
}
