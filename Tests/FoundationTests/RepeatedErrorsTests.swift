import Logging
import TestSupport
import Testing
import Values

@testable import Server

@Suite("Repeated errors in the log")
struct RepeatedErrorsTests {
    private let clock = ManualClock()

    private func error(
        _ message: String = "storage unavailable", reason: String = "no connection", request: Int = 0
    ) -> LogRecord {
        LogRecord(
            level: .error, label: "spindle", message: message,
            metadata: ["reason": "\(reason)", "request_id": "\(request)", "route": "POST /oauth/token"])
    }

    private static let eachSecond = 200

    /// What the log gets of an error that comes again and again for `seconds`.
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
        // The request that can be looked up is the last.
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

    @Test("Errors that return before their end was logged have one end")
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

    @Test("An error that came once has no end")
    func once() {
        var repeated = RepeatedErrors()
        _ = repeated.admit(error(), at: clock.now)
        clock.advance(by: .minutes(1))
        let told = repeated.due(at: clock.now)
        #expect(told.isEmpty)
        #expect(repeated.isEmpty)
    }

    @Test("Errors of different requests are equal, and those of another reason or message are not")
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

    @Test("A clock that is set back does not keep an error waiting")
    func clockSetBack() {
        var repeated = RepeatedErrors()
        _ = repeated.admit(error(), at: clock.now)
        clock.advance(by: .hours(-1))
        _ = repeated.due(at: clock.now)
        #expect(repeated.isEmpty)
    }
}
