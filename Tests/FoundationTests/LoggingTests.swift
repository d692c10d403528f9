import Foundation
import JSON
import Logging
import Synchronization
import TestSupport
import Testing
import Values

@testable import Server

/// The form of a log line, whatever it contains.
@Suite struct LoggingTests {
    private func line(_ message: String, _ metadata: Logger.Metadata = [:]) -> LogLine {
        LogLine(
            time: Timestamp(milliseconds: 1_763_712_000_007), level: .info, label: "spindle", message: message,
            metadata: metadata)
    }

    @Test("A log line in text has time, level, message, and metadata sorted by name")
    func text() {
        let line = line("listening", ["port": "8080", "address": "127.0.0.1"])
        #expect(line.text(in: .text) == "2025-11-21T08:00:00.007Z info     listening address=127.0.0.1 port=8080")
    }

    @Test("The JSON log format has one object a line")
    func json() throws {
        let line = line("a \"b\"\n", ["list": ["x", .dictionary(["y": "z"])]]).text(in: .json)
        #expect(!line.contains("\n"))
        let read = try JSON(parsing: Array(line.utf8))
        #expect(read["time"]?.string == "2025-11-21T08:00:00.007Z")
        #expect(read["level"]?.string == "info")
        #expect(read["message"]?.string == "a \"b\"\n")
        #expect(read["metadata"]?["list"]?.array?.last?["y"]?.string == "z")
    }

    @Test(
        "A logged value cannot begin another line or steer a terminal",
        arguments: [
            "a\nb", "a\r\nb", "a\u{1B}[31mb", "a\u{0}b", "a\u{85}b", "a\u{2028}b", "a\u{202E}b", "a\u{7F}b",
        ])
    func controlCharacters(hostile: String) {
        for text in [line(hostile).text(in: .text), line("x", ["k": "\(hostile)"]).text(in: .text)] {
            #expect(text.unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F })
            #expect(text.contains("\\u{"))
        }
    }

    @Test(
        "A JSON log line escapes what would steer a terminal, and reads back unchanged",
        arguments: [
            ("a\u{85}b", #"a\u0085b"#), ("a\u{9B}31mb", #"a\u009b31mb"#), ("a\u{7F}b", #"a\u007fb"#),
            ("a\u{202E}b", #"a\u202eb"#), ("a\u{E0041}b", #"a\udb40\udc41b"#), ("blåbær 🫐", "blåbær 🫐"),
        ])
    func controlsInJSON(hostile: String, written: String) throws {
        let text = line(hostile, ["k": "\(hostile)"]).text(in: .json)
        #expect(text.contains("\"message\":\"\(written)\"") && text.contains("\"k\":\"\(written)\""), "\(text)")
        let read = try JSON(parsing: Array(text.utf8))
        #expect(read["message"]?.string == hostile)
        #expect(read["metadata"]?["k"]?.string == hostile)
    }

    @Test("A logged value with spaces, quotes or an equals sign is quoted")
    func quoting() {
        let text = line("x", ["reason": "a admin=\"yes\""]).text(in: .text)
        #expect(text.hasSuffix(#"reason="a admin=\"yes\"""#))
    }

    @Test(
        "A logged value cannot leave its quotes and begin another member, not even by combining marks",
        arguments: [
            (#"x" b="y"#, #""x\" b=\"y""#), (#"x\" b="y"#, #""x\\\" b=\"y""#), ("x\\", #""x\\""#),
            ("x \u{301}b=\u{301}y", "\"x \u{301}b=\u{301}y\""), ("x\"\u{301} b", "\"x\\\"\u{301} b\""),
            ("x\n\"", #""x\u{a}\"""#),
        ])
    func leaving(hostile: String, written: String) {
        let text = line("x", ["k": "\(hostile)"]).text(in: .text)
        let end = "k=\(written)".unicodeScalars
        #expect(text.unicodeScalars.suffix(end.count).elementsEqual(end), "\(text)")
    }

    @Test("The log line of a refused request keeps its documented form")
    func refusal() {
        let refused = LogLine(
            time: Timestamp(milliseconds: 1_795_354_288_729), level: .info, label: "spindle", message: "refused",
            metadata: [
                "route": "POST /oauth/token", "reason": "unknown_client", "error": "invalid_client",
                "detail": "client=nobody", "request_id": "f0d26a01414511e3a8a8688a9f216d2c",
            ])
        #expect(
            refused.text(in: .text) == """
                2026-11-22T13:31:28.729Z info     refused detail="client=nobody" error=invalid_client \
                reason=unknown_client request_id=f0d26a01414511e3a8a8688a9f216d2c route="POST /oauth/token"
                """)
        #expect(
            refused.text(in: .json) == """
                {"time":"2026-11-22T13:31:28.729Z","level":"info","logger":"spindle","message":"refused",\
                "metadata":{"detail":"client=nobody","error":"invalid_client","reason":"unknown_client",\
                "request_id":"f0d26a01414511e3a8a8688a9f216d2c","route":"POST /oauth/token"}}
                """)
    }

    @Test("log_addresses shortens a client's address to its network, or leaves it out, and nothing else")
    func addresses() {
        func shown(_ how: LoggedAddresses, _ address: String) -> String? {
            let record = LogRecord(
                level: .info, label: "spindle", message: "refused",
                metadata: ["address": "\(address)", "reason": "wrong_password"])
            let shown = how.shown(in: record)
            #expect(shown.metadata["reason"] == "wrong_password" && shown.message == "refused")
            return shown.metadata["address"]?.description
        }
        for (address, network) in [
            ("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"), ("::1", "::/48"),
        ] {
            #expect(shown(.full, address) == address)
            #expect(shown(.truncated, address) == network)
            #expect(shown(.none, address) == nil)
        }
        for how in LoggedAddresses.allCases {
            #expect(shown(how, "127.0.0.1:8080") == "127.0.0.1:8080")
            #expect(shown(how, "local") == "local")
        }
    }

    /// A pipe that is not read until asked, and the log that writes into it.
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
            // On a separate thread: the flush waits on this one.
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

    @Test("After a flush of the log every logged line has been written, in order")
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

    @Test("Equal errors make two log lines, the first and one with the count; each refusal makes its own line")
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

    @Test("While the server runs, the log tells the count of equal errors a second after the first")
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

    @Test("A log line below the configured level is not even formatted")
    func level() throws {
        let stuck = Stuck(capacity: 10)
        let logger = stuck.log.logger()
        logger.debug("never", metadata: ["detail": "\(Issue.record("it was put together") as Any)"])
        logger.notice("said")
        #expect(try stuck.lines().map { $0.hasSuffix("notice   said") } == [true])
    }

    @Test("A logger's metadata is in each of its lines; a line's own metadata overrides it")
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

    @Test("A log whose reader has closed its end does not keep the process from ending")
    func goneReader() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        let log = StandardErrorLog(
            level: .info, format: .text, clock: ManualClock(), capacity: 10,
            descriptor: pipe.fileHandleForWriting.fileDescriptor)
        try pipe.fileHandleForReading.close()
        log.logger().info("unread")
        log.flush()
    }

    private let clock = ManualClock()

    private func error(
        _ message: String = "storage unavailable", reason: String = "no connection", request: Int = 0
    ) -> LogRecord {
        LogRecord(
            level: .error, label: "spindle", message: message,
            metadata: ["reason": "\(reason)", "request_id": "\(request)", "route": "POST /oauth/token"])
    }

    private static let eachSecond = 200

    /// The records of an error that comes repeatedly for `seconds`.
    private func outage(_ seconds: Int, _ repeated: inout RepeatedErrors) -> [LogRecord] {
        var written: [LogRecord] = []
        for second in 0..<seconds {
            for number in 0..<Self.eachSecond {
                let record = error(request: second * Self.eachSecond + number)
                if repeated.admit(record, at: clock.now) { written.append(record) }
            }
            clock.advance(by: .seconds(1))
            written += repeated.due(at: clock.now)
        }
        return written
    }

    @Test("The first of equal errors is logged at once, and those after it once a second with their count")
    func counted() throws {
        var repeated = RepeatedErrors()
        let since = clock.now.rfc3339
        let lines = outage(3, &repeated)
        #expect(lines.map { $0.metadata["count"]?.description } == [nil, "200", "400", "600"])
        #expect(lines.dropFirst().allSatisfy { $0.metadata["since"]?.description == since })
        #expect(lines.allSatisfy { $0.message == "storage unavailable" && $0.level == .error })
        // The log names the last request, so that it can be looked up.
        #expect(lines.last?.metadata["request_id"] == "599")
    }

    @Test("A minute of equal errors makes fewer than a hundred log lines")
    func minute() {
        var repeated = RepeatedErrors()
        #expect(outage(60, &repeated).count < 100)
    }

    @Test("The end of repeated errors is logged once, with their count and the times of the first and the last")
    func over() throws {
        var repeated = RepeatedErrors()
        let since = clock.now.rfc3339
        _ = outage(2, &repeated)
        let until = (clock.now - .seconds(1)).rfc3339
        var told: [LogRecord] = []
        for _ in 0..<60 {
            clock.advance(by: .seconds(1))
            told += repeated.due(at: clock.now)
        }
        let end = try #require(told.first)
        #expect(told.count == 1)
        #expect(end.level == .error)
        #expect(end.message == "storage unavailable: not again for 20 s")
        #expect(
            end.metadata == [
                "reason": "no connection", "count": "400", "since": "\(since)", "until": "\(until)",
            ])
        #expect(repeated.isEmpty)
        let isWritten = repeated.admit(error(), at: clock.now)
        #expect(isWritten, "the next outage begins with a line")
    }

    @Test("The log keeps counting an error that recurs before its end was logged")
    func flapping() {
        var repeated = RepeatedErrors()
        var told: [LogRecord] = []
        for second in 0..<60 {
            if second.isMultiple(of: 15) { _ = repeated.admit(error(), at: clock.now) }
            clock.advance(by: .seconds(1))
            told += repeated.due(at: clock.now)
        }
        #expect(told.map { $0.metadata["count"]?.description } == ["2", "3", "4"])
    }

    @Test("A single error gets no log line about its end")
    func once() {
        var repeated = RepeatedErrors()
        _ = repeated.admit(error(), at: clock.now)
        clock.advance(by: .minutes(1))
        let told = repeated.due(at: clock.now)
        #expect(told.isEmpty)
        #expect(repeated.isEmpty)
    }

    @Test("In the log, errors that differ only in their request are equal; those of another reason are not")
    func equality() {
        var repeated = RepeatedErrors()
        let errors = [
            error(request: 1), error(request: 2), error(reason: "disk full"), error("unexpected error"),
        ]
        let written = errors.map { repeated.admit($0, at: clock.now) }
        #expect(written == [true, false, true, true])
    }

    @Test("Errors of many different reasons make few log lines, whose counts include all")
    func bounded() {
        var repeated = RepeatedErrors()
        let first = (0..<10_000).filter { repeated.admit(error(reason: "\($0)"), at: clock.now) }.count
        #expect(first == 65)
        clock.advance(by: .seconds(1))
        let told = repeated.due(at: clock.now)
        #expect(told.map { $0.metadata["count"]?.description } == ["\(10_000 - 64)"])
    }

    @Test("A repeated error counts as over in the log when the clock is set back")
    func clockSetBack() {
        var repeated = RepeatedErrors()
        _ = repeated.admit(error(), at: clock.now)
        clock.advance(by: .hours(-1))
        _ = repeated.due(at: clock.now)
        #expect(repeated.isEmpty)
    }
}
