import Storage

/// A request that needs no answer before its last statement, so that those of several callers may be sent together
/// (`Session.run(_:answeredIn:)`).
struct LoneRequest: Sendable {
    enum Kind: CaseIterable { case select, change }

    /// Rows of a SELECT, or whether the first statement of a change changed a row.
    enum Outcome: Sendable {
        case rows([Row])
        case changed(Bool)
    }

    let kind: Kind
    /// The statement that is answered.
    let first: SQL
    /// What follows it in the same transaction.
    let rest: [SQL]
    let caller: Caller<Outcome>

    var statements: [SQL] { [first] + rest }

    var refuse: WorkQueue.Refusal { { [caller] error in caller.answer(.failure(error)) } }

    func answer(_ answer: Answer) {
        switch kind {
        case .select: caller.answer(Result { .rows(try answer.rows()) })
        case .change: caller.answer(.success(.changed(answer.changedRows > 0)))
        }
    }
}
