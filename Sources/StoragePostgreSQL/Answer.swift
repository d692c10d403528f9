import CPostgreSQL
import Storage

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
