import Storage

/// Commands that begin, divide and end transactions.
enum Command: Int, CaseIterable {
    case begin, beginWriting, commit, rollBack
    case openMember, undoMember, closeMember

    var sql: SQL {
        switch self {
        case .begin: "BEGIN"
        case .beginWriting: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollBack: "ROLLBACK"
        case .openMember: "SAVEPOINT member"
        case .undoMember: "ROLLBACK TO member"
        case .closeMember: "RELEASE member"
        }
    }
}
