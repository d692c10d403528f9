import Dispatch
import Glibc
public import Logging
import Synchronization
import Values

/// Writes each record as one line to standard error through a buffer, so that a slow reader does not block requests.
/// Equal errors are counted (`RepeatedErrors`).
public final class StandardErrorLog: LogSink {
    public let level: Logger.Level
    private let format: LogFormat
    private let addresses: LoggedAddresses
    private let clock: any WallClock
    private let lines: LineWriter
    private let state: Mutex<State>
    /// One thread at a time writes; it may wait for the reader.
    private let queue = DispatchQueue(label: "spindle.log")

    /// A full buffer drops lines, except errors.
    public static let capacity = 4096

    /// How long the process waits at its end for the reader of the log.
    public static let patience: Duration = .seconds(3)

    /// The log of a command, as its configuration wants it.
    convenience init(_ configuration: SpindleConfiguration) {
        self.init(
            level: configuration.logLevel, format: configuration.logFormat, addresses: configuration.logAddresses,
            clock: SystemClock(), capacity: Self.capacity, descriptor: STDERR_FILENO)
    }

    init(
        level: Logger.Level, format: LogFormat, addresses: LoggedAddresses = .full, clock: any WallClock,
        capacity: Int, descriptor: Int32
    ) {
        self.level = level
        self.format = format
        self.addresses = addresses
        self.clock = clock
        lines = LineWriter(descriptor: descriptor)
        state = Mutex(State(buffer: LogBuffer(capacity: capacity)))
    }

    /// A logger that writes here.
    public func logger(_ label: String = "spindle") -> Logger { Logger(label: label, sink: self) }

    public func write(_ record: LogRecord) {
        let time = clock.now
        let record = addresses.shown(in: record)
        let (isIdle, isFirst) = state.withLock { $0.add(record, at: time) }
        if isIdle { queue.async { self.drain() } }
        if isFirst { tellRepeated() }
    }

    /// Waits until all records are written, but no longer than `patience`. Called at every end of the process.
    public func flush() {
        let isDone = DispatchSemaphore(value: 0)
        queue.async {
            self.state.withLock { self.addRepeated(to: &$0) }
            self.drain()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + .milliseconds(Int(Self.patience.milliseconds)))
    }

    /// Runs once a second, until no error is left that may recur.
    private func tellRepeated() {
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in
            guard let self else { return }
            let goesOn = state.withLock { state in
                addRepeated(to: &state)
                state.isTelling = !state.repeated.isEmpty
                return state.isTelling
            }
            drain()
            if goesOn { tellRepeated() }
        }
    }

    private func addRepeated(to state: inout State) {
        let time = clock.now
        for record in state.repeated.due(at: time) where record.level >= level {
            _ = state.buffer.add(record, at: time)
        }
    }

    private func drain() {
        while let batch = state.withLock({ $0.buffer.take() }) {
            for (time, record) in batch.records { lines.write(line(record, at: time)) }
            guard batch.dropped > 0 else { continue }
            lines.write(line(.dropped(batch.dropped), at: clock.now))
        }
    }

    private func line(_ record: LogRecord, at time: Timestamp) -> String {
        LogLine(
            time: time, level: record.level, label: record.label, message: record.message, metadata: record.metadata
        ).text(in: format) + "\n"
    }
}

extension StandardErrorLog {
    fileprivate struct State {
        var buffer: LogBuffer
        var repeated = RepeatedErrors()
        /// Whether `tellRepeated` is running.
        var isTelling = false

        /// Returns whether a writer must be started, and whether `tellRepeated` must be.
        mutating func add(_ record: LogRecord, at time: Timestamp) -> (isIdle: Bool, isFirst: Bool) {
            guard record.isOfServer else { return (buffer.add(record, at: time), false) }
            let record = record.cut
            let isIdle = repeated.admit(record, at: time) && buffer.add(record, at: time)
            defer { isTelling = true }
            return (isIdle, !isTelling)
        }
    }
}

extension LogRecord {
    fileprivate static func dropped(_ count: Int) -> LogRecord {
        LogRecord(
            level: .warning, label: "spindle", message: "log lines dropped: they were not read in time",
            metadata: ["count": "\(count)"])
    }
}

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

/// Writes lines to a descriptor, each with one call, so that the lines of several threads and processes do not mix.
struct LineWriter {
    let descriptor: Int32

    /// Waits while the reader is slow. False when the line cannot be written.
    @discardableResult
    func write(_ line: String) -> Bool {
        var rest = Array(line.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // Another process that shares the descriptor may have made it non-blocking.
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&state, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The format of a log line.
public enum LogFormat: String, Sendable, CaseIterable {
    /// Lines to read.
    case text
    /// One JSON object a line, for machines.
    case json
}
