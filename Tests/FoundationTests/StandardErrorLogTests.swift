import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import Values

@testable import Server

/// The log as a fast or slow reader gets it.
@Suite struct StandardErrorLogTests {
    /// A pipe that nobody reads until asked, and the log that writes into it.
    private final class Stuck {
        private final class Received: Sendable {
            let bytes = Mutex(Data())
        }
        private let pipe = Pipe()
        let log: StandardErrorLog

        init(capacity: Int, format: LogFormat = .text) {
            log = StandardErrorLog(
                level: .info, format: format, clock: ManualClock(), capacity: capacity,
                descriptor: pipe.fileHandleForWriting.fileDescriptor)
        }

        /// Everything that was logged.
        func lines() throws -> [Substring] {
            let reader = pipe.fileHandleForReading
            let received = Received()
            let isDone = DispatchSemaphore(value: 0)
            // On a thread apart: the flush waits on this one.
            Thread.detachNewThread {
                let bytes = try? reader.readToEnd()
                received.bytes.withLock { $0 = bytes ?? Data() }
                isDone.signal()
            }
            log.flush()
            try pipe.fileHandleForWriting.close()
            isDone.wait()
            return received.bytes.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n")
        }
    }

    @Test("Every logged line is written after a flush, in order")
    func order() throws {
        let stuck = Stuck(capacity: 4096)
        let logger = stuck.log.logger()
        for number in 0..<100 { logger.info("line", metadata: ["number": "\(number)"]) }
        let lines = try stuck.lines()
        #expect(lines.map { $0.split(separator: "=").last.map(String.init) } == (0..<100).map { "\($0)" })
    }

    @Test("A stopped reader of the log delays no caller: lines are dropped and counted, errors are kept")
    func slowReader() throws {
        let stuck = Stuck(capacity: 100)
        let logger = stuck.log.logger()
        let padding = String(repeating: "x", count: 1000)
        // A pipe takes 64 KiB before it is full.
        for number in 0..<2000 { logger.info("line", metadata: ["number": "\(number)", "padding": "\(padding)"]) }
        for number in 0..<60 { logger.error("bad", metadata: ["number": "\(number)"]) }
        let lines = try stuck.lines()
        let written = lines.filter { $0.contains(" line number=") }.count
        let dropped = lines.compactMap { $0.split(separator: "count=").last.flatMap { Int($0) } }.reduce(0, +)
        #expect(lines.filter { $0.contains(" bad number=") }.count == 60)
        #expect(written < 2000)
        #expect(written + dropped == 2000)
        #expect(lines.contains { $0.contains(" warning  log lines dropped") })
    }

    @Test("An unread log keeps a bounded number of errors, each shortened")
    func errors() throws {
        var buffer = LogBuffer(capacity: 10)
        let long = String(repeating: "x", count: 5_000)
        for number in 0..<100 {
            let record = LogRecord(
                level: .error, label: "spindle", message: "bad",
                metadata: ["number": "\(number)", "long": "\(long)", "list": [.string(long)]])
            _ = buffer.add(record, at: ManualClock().now)
        }
        let taken = buffer.take()
        let (records, dropped) = try #require(taken)
        #expect(records.map { $0.record.metadata["number"]?.description } == (0..<40).map { "\($0)" })
        #expect(dropped == 60)
        let kept = "\(long.prefix(1_000))… (5000 bytes)"
        #expect(records.allSatisfy { $0.record.metadata["long"] == .string(kept) })
        #expect(records.allSatisfy { $0.record.metadata["list"] == [.string(kept)] })
    }

    @Test("Equal errors are one log line with their count, and each refusal is a line")
    func repeated() throws {
        let stuck = Stuck(capacity: 4096)
        let logger = stuck.log.logger()
        for number in 0..<1000 {
            logger.error("storage unavailable", metadata: ["reason": "gone", "request_id": "\(number)"])
        }
        for _ in 0..<3 { logger.info("refused", metadata: ["reason": "wrong_password"]) }
        let lines = try stuck.lines()
        #expect(lines.filter { $0.contains("storage unavailable") }.count == 2)
        #expect(lines.first?.hasSuffix("storage unavailable reason=gone request_id=0") == true)
        #expect(lines.last?.contains("storage unavailable count=1000 reason=gone request_id=999 since=") == true)
        #expect(lines.filter { $0.contains("refused") }.count == 3)
    }

    @Test("Equal errors are counted in the log while the server runs, a second after the first")
    func toldInTime() async throws {
        let pipe = Pipe()
        let log = StandardErrorLog(
            level: .info, format: .text, clock: ManualClock(), capacity: 10,
            descriptor: pipe.fileHandleForWriting.fileDescriptor)
        for _ in 0..<5 { log.logger().error("storage unavailable") }
        let lines = AsyncStream<String> { lines in
            Thread.detachNewThread {
                var text = ""
                while text.split(separator: "\n").count < 2 {
                    text += String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
                }
                lines.yield(text)
                lines.finish()
            }
        }
        for await text in lines { #expect(text.contains("storage unavailable count=5 since=")) }
        withExtendedLifetime(log) {}
    }

    @Test("A log line below the level is not even formatted")
    func level() throws {
        let stuck = Stuck(capacity: 10)
        let logger = stuck.log.logger()
        logger.debug("never", metadata: ["detail": "\(Issue.record("it was put together") as Any)"])
        logger.notice("said")
        #expect(try stuck.lines().map { $0.hasSuffix("notice   said") } == [true])
    }

    @Test("A logger's members are in each of its lines; those of a line win")
    func members() throws {
        let stuck = Stuck(capacity: 10, format: .json)
        var logger = stuck.log.logger()
        logger[metadataKey: "request_id"] = "7"
        logger.info("refused", metadata: ["status": "405"])
        logger.info("refused", metadata: ["request_id": "8"])
        let lines = try stuck.lines()
        #expect(lines.first?.hasSuffix(#""message":"refused","metadata":{"request_id":"7","status":"405"}}"#) == true)
        #expect(lines.last?.hasSuffix(#""message":"refused","metadata":{"request_id":"8"}}"#) == true)
    }

    @Test("A reader of the log that is gone does not keep the process from ending")
    func goneReader() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        let log = StandardErrorLog(
            level: .info, format: .text, clock: ManualClock(), capacity: 10,
            descriptor: pipe.fileHandleForWriting.fileDescriptor)
        try pipe.fileHandleForReading.close()
        log.logger().info("nobody hears it")
        log.flush()
    }
}
