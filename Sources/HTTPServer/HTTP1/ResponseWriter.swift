import HTTP

/// Writes responses (RFC 9112 §4). A response with a forbidden character, which could split it, becomes a 500.
struct ResponseWriter {
    /// The value of Date.
    let date: [UInt8]
    let isHead: Bool
    let closes: Bool
    let minorVersion: Int

    /// Writes `response`. False when a 500 was written instead.
    func write(_ response: Response, into output: inout [UInt8]) -> Bool {
        guard ResponseRule.isValid(response) else {
            writeRefusal(.internalServerError, into: &output)
            return false
        }
        writeStatus(response.status, into: &output)
        for field in response.headers where !Self.isOurs(field.name) {
            writeField(field.name.text, field.value, into: &output)
        }
        writeFraming(response, into: &output)
        writeEnd(into: &output)
        guard !isHead, response.status.mayHaveBody else { return true }
        switch response.body {
        case .bytes(let bytes): output.append(contentsOf: bytes)
        case .text(let text): output.append(contentsOf: text.utf8)
        case .stream: break
        }
        return true
    }

    /// Writes the answer to a refused request.
    func writeRefusal(_ status: Status, into output: inout [UInt8]) {
        writeStatus(status, into: &output)
        output.append(contentsOf: "Content-Length: 0\r\n".utf8)
        writeEnd(into: &output)
    }

    private func writeStatus(_ status: Status, into output: inout [UInt8]) {
        output.append(contentsOf: "HTTP/1.1 ".utf8)
        output.append(decimal: status.code)
        output.append(.blank)
        output.append(contentsOf: status.reasonPhrase.utf8)
        output.append(contentsOf: "\r\n".utf8)
    }

    private func writeField(_ name: String, _ value: String, into output: inout [UInt8]) {
        output.append(contentsOf: name.utf8)
        output.append(contentsOf: ": ".utf8)
        output.append(contentsOf: value.utf8)
        output.append(contentsOf: "\r\n".utf8)
    }

    /// RFC 9110 §8.6: a response that never has a body gets no framing fields.
    private func writeFraming(_ response: Response, into output: inout [UInt8]) {
        guard response.status.mayHaveBody else { return }
        let count: Int
        switch response.body {
        case .bytes(let bytes): count = bytes.count
        case .text(let text): count = text.utf8.count
        case .stream:
            guard minorVersion > 0 else { return }
            output.append(contentsOf: "Transfer-Encoding: chunked\r\n".utf8)
            return
        }
        output.append(contentsOf: "Content-Length: ".utf8)
        output.append(decimal: count)
        output.append(contentsOf: "\r\n".utf8)
    }

    private func writeEnd(into output: inout [UInt8]) {
        output.append(contentsOf: "Date: ".utf8)
        output.append(contentsOf: date)
        if closes {
            output.append(contentsOf: "\r\nConnection: close\r\n\r\n".utf8)
        } else if minorVersion == 0 {
            output.append(contentsOf: "\r\nConnection: keep-alive\r\n\r\n".utf8)
        } else {
            output.append(contentsOf: "\r\n\r\n".utf8)
        }
    }

    /// Fields of the connection or the framing: the server writes them itself.
    private static func isOurs(_ name: FieldName) -> Bool {
        name == .contentLength || name == .connection || name == .transferEncoding || name == .date
    }
}

extension [UInt8] {
    /// Appends `number`, which must not be negative.
    mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }
}
