import Storage

/// An error of PostgreSQL, and whether trying again can help.
struct Failure: Error {
    enum Remedy {
        case none
        /// Run the closure again on the same connection.
        case again
        /// Run the closure again on a new connection.
        case reconnect
    }

    let remedy: Remedy
    let error: StorageError
    /// Whether the server's disk was full or failed: it may refuse the next change too.
    var isOfDisk = false

    static let lost = Failure(remedy: .reconnect, error: .unavailable("the connection to PostgreSQL was lost"))
    /// The connection was abandoned: see `AnswerTime`.
    static let silent = Failure(remedy: .reconnect, error: .unavailable("PostgreSQL did not answer in time"))
    /// A read has another statement, and began without a snapshot for both.
    static let needsSnapshot = Failure(remedy: .again, error: .unavailable("a read of several statements"))

    var isSilence: Bool { remedy == .reconnect && error == Self.silent.error }
}

extension StorageError {
    static func encoded(as encoding: String) -> StorageError {
        .unsuitable(
            """
            the encoding of this PostgreSQL database is \(encoding), which cannot store every text: create another with \
            `createdb -E UTF8 -T template0 NAME`
            """)
    }
}

extension Failure {
    /// The meaning of an SQLSTATE (PostgreSQL's manual, appendix A).
    init(state: String, message: String?, schema: String?) {
        // Messages of these classes contain only names; others may quote a value, which may be personal data.
        let speaksOfNames = ["08", "0A", "23", "25", "40", "42", "53", "55", "57", "58"].contains(state.prefix(2))
        let text = [state, speaksOfNames ? message : nil].compactMap(\.self).joined(separator: " ")
        switch state {
        // A lost race, a deadlock, and CockroachDB's code for a COMMIT of unknown outcome.
        case "40001", "40P01", "40003": self.init(remedy: .again, error: .unavailable(text))
        // Another process has made the same table, its type or a column since this snapshot; the next run sees it.
        case "42P07", "42701", "42710": self.init(remedy: .again, error: .unreadable(text))
        case "23505" where schema == "pg_catalog": self.init(remedy: .again, error: .unavailable(text))
        case "23505": self.init(remedy: .none, error: .conflict(text))
        case "23503": self.init(remedy: .none, error: .constraint(text))
        case "42P01": self.init(remedy: .none, error: .noTable(text))
        // A statement or a lock took too long.
        case "57014", "55P03": self.init(remedy: .none, error: .unavailable(text))
        // A standby refuses to open a transaction that writes: the next connection may lead to the primary. (25006 is
        // different: it means that a read of ours writes.) The same code also means that a table has changed since a
        // statement was prepared.
        case "0A000": self.init(remedy: .reconnect, error: .unavailable(text))
        // The server ended the session: 25P03 because a transaction was idle.
        case "25P03": self.init(remedy: .reconnect, error: .unavailable(text))
        default:
            switch state.prefix(2) {
            // Class 22 is a value that its column cannot hold, 54 one that an index cannot.
            case "22", "23", "54": self.init(remedy: .none, error: .rejected(text))
            case "08", "57": self.init(remedy: .reconnect, error: .unavailable(text))
            case "53", "58":
                self.init(remedy: .none, error: .unavailable(text), isOfDisk: state == "53100" || state == "58030")
            default: self.init(remedy: .none, error: .unreadable(text))
            }
        }
    }
}
