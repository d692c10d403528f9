import JSON
import Logging
import Testing
import Values

@testable import Server

/// What a line of the log looks like, whatever is in it.
@Suite struct LogLineTests {
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
}
