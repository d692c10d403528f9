import Logging
import Values

/// What waits to be written.
struct LogBuffer {
    typealias Entry = (time: Timestamp, record: LogRecord)

    private let capacity: Int
    private var records: [Entry] = []
    private var dropped = 0
    /// Whether somebody is writing, who comes back for what is added meanwhile.
    private var isDraining = false

    init(capacity: Int) { self.capacity = capacity }

    /// Adds `record`; past the capacity only errors are kept, and the rest is counted. Returns whether a writer must be
    /// called.
    mutating func add(_ record: LogRecord, at time: Timestamp) -> Bool {
        if records.count < capacity || record.level >= .error {
            records.append((time, record))
        } else {
            dropped += 1
        }
        defer { isDraining = true }
        return !isDraining
    }

    /// Hands out all that waits, and how many were dropped behind it. Nil ends the writing.
    mutating func take() -> (records: [Entry], dropped: Int)? {
        guard !records.isEmpty || dropped > 0 else {
            isDraining = false
            return nil
        }
        defer { (records, dropped) = ([], 0) }
        return (records, dropped)
    }
}
