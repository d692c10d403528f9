import CPostgreSQL
import Storage

/// What PostgreSQL answered to one statement: a libpq result and its lifetime.
final class Answer {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }
    deinit { PQclear(result) }

    var status: ExecStatusType { PQresultStatus(result) }
    var succeeded: Bool { status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK }

    /// The word the server closes a statement with: `COMMIT`, or `ROLLBACK` where it could not.
    var tag: String { String(cString: PQcmdStatus(result)) }

    /// How many rows the statement touched.
    var changedRows: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The error, when this is one.
    var failure: Failure? {
        guard !succeeded else { return nil }
        // An error without an SQLSTATE is libpq's own: there is no server behind it any more.
        guard let state = field("C") else { return .lost }
        return Failure(state: state, message: field("M"), schema: field("s"))
    }

    /// The rows, each value by the type of its column.
    func rows() throws(StorageError) -> [Row] {
        let count = PQnfields(result)
        let columns = (0..<count).map { String(cString: PQfname(result, $0)) }
        let types = (0..<count).map { PQftype(result, $0) }
        var rows: [Row] = []
        rows.reserveCapacity(Int(PQntuples(result)))
        for row in 0..<PQntuples(result) {
            var values: [SQLValue] = []
            values.reserveCapacity(types.count)
            for (column, type) in zip(Int32(0)..., types) { values.append(try value(row, column, type)) }
            rows.append(Row(columns: columns, values: values))
        }
        return rows
    }

    private func value(_ row: Int32, _ column: Int32, _ type: Oid) throws(StorageError) -> SQLValue {
        guard PQgetisnull(result, row, column) == 0, let bytes = PQgetvalue(result, row, column) else { return .null }
        let length = Int(PQgetlength(result, row, column))
        let text = bytes.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
        // The numbers are the fixed OIDs of PostgreSQL's pg_type.
        switch type {
        case 25, 1043, 1042, 19, 705: return .text(text)
        case 16: return .integer(text == "t" ? 1 : 0)
        // numeric is what sum() makes of BIGINT; SQLite says integer.
        case 20, 21, 23, 1700:
            guard let number = Int64(text) else { throw .unreadable("a number beyond BIGINT") }
            return .integer(number)
        default: throw .unreadable("a column of PostgreSQL's type \(type), outside the portable subset")
        }
    }

    /// A field of an error report, by the letter of the protocol.
    private func field(_ letter: Unicode.Scalar) -> String? {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
    }
}
