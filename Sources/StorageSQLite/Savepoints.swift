/// When a transaction opens a savepoint before its first change.
///
/// A savepoint costs a quarter of a small write, and few members are ever undone alone. So a member has none until one
/// that began with the same statement had to be undone. Then its group runs again, each member with a savepoint, and
/// the statement is remembered.
enum Savepoints {
    /// A read, which changes nothing.
    case never
    /// A member of a group that runs for the first time.
    case whereTheyWereMissed
    /// A member of a group that runs again.
    case always

    func areNeeded(by statement: Statement) -> Bool {
        switch self {
        case .never: false
        case .whereTheyWereMissed: statement.needsSavepoint
        case .always: true
        }
    }
}
