import Logging
import Values

/// The log records that wait to be written.
struct LogBuffer {
    typealias Entry = (time: Timestamp, record: LogRecord)

    private let capacity: Int
    /// Errors are kept beyond the capacity, up to this limit.
    private var capacityWithErrors: Int { 4 * capacity }
    private var records: [Entry] = []
    private var dropped = 0
    /// Whether a writer is at work. It also writes records added meanwhile.
    private var isDraining = false

    init(capacity: Int) { self.capacity = capacity }

    /// Adds `record`. When the buffer is full, only errors are kept, up to four times the capacity, and the others are
    /// counted. Returns whether a writer must be started.
    mutating func add(_ record: LogRecord, at time: Timestamp) -> Bool {
        if records.count < (record.level >= .error ? capacityWithErrors : capacity) {
            records.append((time, record.cut))
        } else {
            dropped += 1
        }
        defer { isDraining = true }
        return !isDraining
    }

    /// Returns all waiting records, and how many were dropped after them. Nil ends the writing.
    mutating func take() -> (records: [Entry], dropped: Int)? {
        guard !records.isEmpty || dropped > 0 else {
            isDraining = false
            return nil
        }
        defer { (records, dropped) = ([], 0) }
        return (records, dropped)
    }
}
