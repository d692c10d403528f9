import Logging
import Values

/// Keeps equal errors from filling the log. The first is written at once. Those that follow are counted, and the last
/// of them is written once a second, as is their end.
///
/// Errors are equal if message and metadata are, except for the request's (`circumstances`). A client that can vary the
/// metadata gets at most `most` kinds: beyond that, errors are told apart by their message alone, and messages are the
/// program's own.
struct RepeatedErrors {
    fileprivate struct Kind: Hashable {
        let label: String
        let message: String
        /// Nil when it is told apart by its message alone.
        let metadata: Logger.Metadata?
    }

    /// The state of one kind of error that still occurs.
    fileprivate struct Course {
        let since: Timestamp
        var until: Timestamp
        var count = 1
        /// How many of them the log has reported.
        var told = 1
        var last: LogRecord
    }

    /// Metadata of the request that met the error, which do not make a different error.
    static let circumstances: Set<String> = [
        "request_id", "traceparent", "route", "client", "user", "address",
    ]
    /// An error that does not recur for this long is over. Background work retries every fifteen seconds at the latest.
    static let silence: Duration = .seconds(20)
    private static let most = 64

    private var courses: [Kind: Course] = [:]

    /// Whether there is nothing to write later; otherwise `due` must be called once a second.
    var isEmpty: Bool { courses.isEmpty }

    /// Whether `record` is to be written now. Otherwise it is counted.
    mutating func admit(_ record: LogRecord, at now: Timestamp) -> Bool {
        let kind = kind(of: record)
        guard courses[kind]?.count(record, at: now) == nil else { return false }
        courses[kind] = Course(since: now, until: now, last: record)
        return true
    }

    /// The records to write now: each kind that has recurred since the last call, and each that is over.
    mutating func due(at now: Timestamp) -> [LogRecord] {
        var due: [LogRecord] = []
        for kind in courses.keys {
            guard let course = courses[kind] else { continue }
            if course.count > course.told {
                due.append(course.repeated)
                courses[kind]?.told = course.count
            } else if now - course.until >= Self.silence || now < course.until {
                if course.count > 1 { due.append(course.ended) }
                courses[kind] = nil
            }
        }
        return due
    }

    private func kind(of record: LogRecord) -> Kind {
        let metadata = record.metadata.filter { !Self.circumstances.contains($0.key) }
        let kind = Kind(label: record.label, message: record.message, metadata: metadata)
        guard courses.count >= Self.most, courses[kind] == nil else { return kind }
        return Kind(label: record.label, message: record.message, metadata: nil)
    }
}

extension RepeatedErrors.Course {
    fileprivate mutating func count(_ record: LogRecord, at now: Timestamp) {
        count += 1
        until = now
        last = record
    }

    /// The last of them, their number, and since when.
    fileprivate var repeated: LogRecord {
        line(last.level, last.message, last.metadata.merging(figures) { $1 })
    }

    /// Says that it has not recurred, and when it last occurred. Perhaps nothing has tried since.
    fileprivate var ended: LogRecord {
        let metadata = last.metadata.filter { !RepeatedErrors.circumstances.contains($0.key) }
        return line(
            last.level, "\(last.message): not again for \(RepeatedErrors.silence.seconds) s",
            metadata.merging(figures.merging(["until": "\(until.rfc3339)"]) { $1 }) { $1 })
    }

    private var figures: Logger.Metadata { ["count": "\(count)", "since": "\(since.rfc3339)"] }

    private func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> LogRecord {
        LogRecord(level: level, label: last.label, message: message, metadata: metadata)
    }
}
