import Storage

extension Session {
    /// Runs requests of several callers, all of one kind, in one round trip; changes in one transaction, one after the
    /// other. Requests that are not prepared go to `alone`, which runs each by itself, and so do all when the group
    /// fails, because the failure does not tell whose it is. A request that lost too many races goes there with the
    /// count.
    func run(_ group: [LoneRequest], answeredIn time: Duration, alone: (LoneRequest, LostRaces?) -> Void) {
        var (known, unknown): ([LoneRequest], [LoneRequest]) = ([], [])
        for request in group {
            if isPrepared(request) { known.append(request) } else { unknown.append(request) }
        }
        guard group.count > 1, !known.isEmpty else {
            for request in group.dropFirst() { alone(request, nil) }
            // Running it prepares it, also for the next group.
            do { try runAlone(group[0], answeredIn: time) } catch { alone(group[0], error) }
            return
        }
        for request in unknown { alone(request, nil) }
        guard let answers = answers(to: known, within: time) else {
            for request in known { alone(request, nil) }
            return
        }
        for (request, answer) in zip(known, answers) { request.answer(answer) }
    }

    func runAlone(
        _ request: LoneRequest, answeredIn time: Duration, after lost: LostRaces? = nil
    ) throws(LostRaces) {
        try request.caller.answer { () throws -> LoneRequest.Outcome in
            switch request.kind {
            case .select:
                .rows(try run(.read, answeredIn: time, after: lost) { db in try db.rows(request.first) })
            case .change:
                .changed(
                    try run(.guardedWrite, answeredIn: time, after: lost) { db in
                        let count = try db.execute(request.first)
                        for sql in request.rest { try db.enqueue(sql) }
                        return count > 0
                    })
            }
        }
    }

    /// One of their rows may be locked for longer. The others must not wait for it, nor deadlock with another node's
    /// group.
    private static let shortLocks: SQL = "SET LOCAL lock_timeout = '100ms'"

    private func isPrepared(_ request: LoneRequest) -> Bool {
        guard let connection else { return false }
        return connection.hasPrepared(request.first) && request.rest.allSatisfy(connection.hasPrepared)
    }

    /// The answers to the first statements of `group`. Nil when a statement failed, or the connection did.
    private func answers(to group: [LoneRequest], within time: Duration) -> [Answer]? {
        guard let connection else { return nil }
        connection.answerTime = time
        do throws(Failure) {
            if group[0].kind == .select { return try connection.runAll(group.map(\.first)) }
            let opening = [Mode.guardedWrite.opening, Self.shortLocks]
            let all = try connection.runAll(opening + group.flatMap(\.statements) + [Self.commit])
            guard all.last?.tag == "COMMIT" else { return nil }
            var place = opening.count
            return group.map { request in
                defer { place += 1 + request.rest.count }
                return all[place]
            }
        } catch {
            if error.remedy == .reconnect { disconnect() } else { post(Self.rollback, on: connection) }
            return nil
        }
    }
}
