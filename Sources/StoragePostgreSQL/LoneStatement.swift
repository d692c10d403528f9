import Storage

/// A statement that needs nothing before it and decides nothing after it, so that those of several callers may be sent
/// together (`Session.run(_:answeredIn:)`).
struct LoneStatement: Sendable {
    enum Kind: CaseIterable { case select, insert }

    /// Rows of a SELECT, or how many an INSERT stored.
    enum Outcome: Sendable {
        case rows([Row])
        case stored(Int)
    }

    let sql: SQL
    let kind: Kind
    let caller: Caller<Outcome>

    var refuse: WorkQueue.Refusal { { [caller] error in caller.answer(.failure(error)) } }

    func answer(_ answer: Answer) {
        switch kind {
        case .select: caller.answer(Result { .rows(try answer.rows()) })
        case .insert: caller.answer(.success(.stored(answer.changedRows)))
        }
    }
}
