import CPostgreSQL
import Storage
import Values

/// PostgreSQL's response to one statement: owns a libpq result.
@safe final class Answer {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { unsafe self.result = result }
    deinit { unsafe PQclear(result) }

    var status: ExecStatusType { unsafe PQresultStatus(result) }
    var succeeded: Bool { status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK }

    /// The server's tag for a completed statement: `COMMIT`, or `ROLLBACK` if it could not commit.
    var tag: String { unsafe String(cString: PQcmdStatus(result)) }

    /// How many rows the statement changed.
    var changedRows: Int { unsafe Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The error, if there is one.
    var failure: Failure? {
        guard !succeeded else { return nil }
        // An error without an SQLSTATE comes from libpq itself: the server is gone.
        guard let state = field("C") else { return .lost }
        return Failure(state: state, message: field("M"), schema: field("s"))
    }

    /// The rows, each value by the type of its column.
    func rows() throws(StorageError) -> [Row] {
        let count = unsafe PQnfields(result)
        let types = (0..<count).map { unsafe PQftype(result, $0) }
        var values: [SQLValue] = []
        let rowCount = unsafe PQntuples(result)
        values.reserveCapacity(types.count * Int(rowCount))
        for row in 0..<rowCount {
            for (column, type) in zip(Int32(0)..., types) { values.append(try value(row, column, type)) }
        }
        return Row.all(ColumnNames((0..<count).map { unsafe String(cString: PQfname(result, $0)) }), values)
    }

    private func value(_ row: Int32, _ column: Int32, _ type: Oid) throws(StorageError) -> SQLValue {
        guard unsafe PQgetisnull(result, row, column) == 0, let bytes = unsafe PQgetvalue(result, row, column) else {
            return .null
        }
        let length = unsafe Int(PQgetlength(result, row, column))
        let text = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
        // These numbers are fixed OIDs of PostgreSQL's pg_type.
        switch type {
        case 25, 1043, 1042, 19, 705: return .text(text)
        case 16: return .integer(text == "t" ? 1 : 0)
        // sum() of BIGINT is numeric here, and integer in SQLite.
        case 20, 21, 23, 1700:
            guard let number = Int64(text) else { throw .unreadable("a number beyond BIGINT") }
            return .integer(number)
        default: throw .unreadable("a column of PostgreSQL's type \(type), outside the portable subset")
        }
    }

    /// A field of an error report, by its letter in the protocol.
    private func field(_ letter: Unicode.Scalar) -> String? {
        unsafe PQresultErrorField(result, Int32(letter.value)).map { unsafe String(cString: $0) }
    }
}

/// How long the server may take to answer one statement, or COMMIT, before the connection is abandoned.
public enum AnswerTime {
    /// For requests. A live server reports after ten seconds that it could not get a lock.
    public static let ofRequests: Duration = .seconds(15)
    /// For steps of the schema: one may rewrite a large table.
    static let ofMigration: Duration = .hours(6)
    /// For lists, exports and commands. A live server ends a statement after thirty seconds.
    public static let ofLongWork: Duration = .seconds(35)
    /// For the settings of a new connection, and for connecting itself.
    static let ofGreeting: Duration = .seconds(10)
    /// For the check of a load balancer, which asks again soon.
    static let ofReadiness: Duration = .seconds(2)
    /// For remaining work when the database is closed.
    static let ofTheLast: Duration = .seconds(5)
    /// As above, when work was abandoned before.
    static let ofTheAbandoned: Duration = .milliseconds(100)
}

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
            the encoding of this PostgreSQL database is \(encoding), which cannot store every text: create another by \
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
