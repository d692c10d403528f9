import Glibc
import HTTPServer
import Testing

/// Answers that are sent in parts, and large ones.
@Suite struct StreamTests {
    private func get(_ path: String, version: String = "1.1") -> String {
        "GET \(path) HTTP/\(version)\r\nHost: a\r\n\r\n"
    }

    @Test("A streamed HTTP/1.1 answer is chunked, and its connection serves the next request")
    func chunked() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            try wire.send(get("/stream?3") + get("/b"))
            let answer = try wire.answer()
            #expect(answer["transfer-encoding"] == "chunked" && answer["content-length"] == nil)
            #expect(answer.body == String(repeating: "b", count: 3000))
            #expect(try wire.answer().body == "GET /b ")
        }
    }

    @Test("A streamed answer to HTTP/1.0 is not chunked, and ends with the connection")
    func old() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            try wire.send(get("/stream?3", version: "1.0"))
            let text = String(decoding: wire.readToEnd(), as: UTF8.self)
            #expect(!text.contains("chunked") && text.hasSuffix("\r\n\r\n" + String(repeating: "b", count: 3000)))
        }
    }

    @Test("A streamed HTTP/1.1 answer that breaks off has no final chunk, and its connection ends")
    func broken() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            try wire.send(get("/stream?3broken") + get("/b"))
            #expect(!String(decoding: wire.readToEnd(), as: UTF8.self).contains("0\r\n\r\n"))
            #expect(!served.echo.requests.contains("GET /b "))
        }
    }

    @Test("Answers larger than any buffer arrive whole, even when they are read late")
    func large() async throws {
        try await Served.run { served in
            let wire = try Wire(port: served.port, receiveBuffer: 4096)
            try wire.send(get("/large") + get("/stream?400") + get("/b"))
            // On this thread: a task that sleeps while other tests keep every thread busy sleeps past the deadline.
            usleep(100_000)
            #expect(try wire.answer().body.utf8.count == 4_000_000)
            #expect(try wire.answer().body.utf8.count == 400_000)
            #expect(try wire.answer().body == "GET /b ")
        }
    }

    @Test("After clients have gone away in the middle of an answer, the server answers others")
    func gone() async throws {
        try await Served.run { served in
            for path in ["/large", "/stream?100000"] {
                let wire = try Wire(port: served.port, receiveBuffer: 4096)
                try wire.send(get(path))
                try await Task.sleep(for: .milliseconds(20))
                wire.reset()
            }
            let wire = try served.dial()
            try wire.send(get("/b"))
            #expect(try wire.answer().body == "GET /b ")
        }
    }
}
