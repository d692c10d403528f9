import Logging
import Values

/// Keeps equal errors from filling the log: the first is written at once, those that follow are counted, told once a
/// second by the last of them, and so is their end.
///
/// Errors are equal if message and metadata are, less the request's (`circumstances`). A client that can vary the
/// metadata gets no more than `most` kinds: beyond that, errors are told apart by their message alone, and messages are
/// the program's own.
struct RepeatedErrors {
    fileprivate struct Kind: Hashable {
        let label: String
        let message: String
        /// Nil where it is told apart by its message alone.
        let metadata: Logger.Metadata?
    }

    /// What is known of one kind that goes on.
    fileprivate struct Course {
        let since: Timestamp
        var until: Timestamp
        var count = 1
        /// How many of them the log tells of.
        var told = 1
        var last: LogRecord
    }

    /// Metadata of the request that met the error. They make no other error of it.
    static let circumstances: Set<String> = ["request_id", "route", "client", "user", "address"]
    /// An error that does not come for so long is over. The background tries again every fifteen seconds at the latest.
    static let silence: Duration = .seconds(20)
    private static let most = 64

    private var courses: [Kind: Course] = [:]

    /// Whether there is anything to tell later: then `due` is to be called once a second.
    var isEmpty: Bool { courses.isEmpty }

    /// Whether `record` is to be written. One that is not will be counted.
    mutating func admit(_ record: LogRecord, at now: Timestamp) -> Bool {
        let kind = kind(of: record)
        guard courses[kind]?.count(record, at: now) == nil else { return false }
        courses[kind] = Course(since: now, until: now, last: record)
        return true
    }

    /// What is to be written now: each kind that has come again since the last call, and each that is over.
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

    /// The last of them, how many there have been, and since when.
    fileprivate var repeated: LogRecord {
        line(last.level, last.message, last.metadata.merging(figures) { $1 })
    }

    /// That it has not come again, and when it came last. It says no more than that: perhaps nothing has tried since.
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
