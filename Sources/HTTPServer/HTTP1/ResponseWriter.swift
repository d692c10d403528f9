import HTTP

/// Writes responses (RFC 9112 §4). A response with a forbidden character, which could split it, becomes a 500.
struct ResponseWriter {
    /// The value of Date.
    let date: [UInt8]
    let isHead: Bool
    let closes: Bool
    let minorVersion: Int
    /// Fields for every response that has none of the same name.
    var common = Fields()

    /// Writes `response`. False when a 500 was written instead.
    func write(_ response: Response, into output: inout [UInt8]) -> Bool {
        guard ResponseRule.isValid(response) else {
            _ = write(response.replacement, into: &output)
            return false
        }
        writeStatus(response.status, into: &output)
        response.headers.forEach { field in
            if !Self.ours.contains(field.name) { writeField(field.name.text, field.value, into: &output) }
        }
        common.forEach { field in
            if !response.headers.contains(field.name) { writeField(field.name.text, field.value, into: &output) }
        }
        writeFraming(response, into: &output)
        writeEnd(into: &output)
        guard !isHead, response.status.mayHaveBody else { return true }
        switch response.body {
        case .bytes(let bytes): output.append(contentsOf: bytes)
        case .text(let text): output.append(text: text)
        case .stream: break
        }
        return true
    }

    private func writeStatus(_ status: Status, into output: inout [UInt8]) {
        output.append(text: "HTTP/1.1 ")
        output.append(decimal: status.code)
        output.append(.blank)
        output.append(text: status.reasonPhrase)
        output.append(text: "\r\n")
    }

    private func writeField(_ name: String, _ value: String, into output: inout [UInt8]) {
        output.append(text: name)
        output.append(text: ": ")
        output.append(text: value)
        output.append(text: "\r\n")
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
            output.append(text: "Transfer-Encoding: chunked\r\n")
            return
        }
        output.append(text: "Content-Length: ")
        output.append(decimal: count)
        output.append(text: "\r\n")
    }

    private func writeEnd(into output: inout [UInt8]) {
        output.append(text: "Date: ")
        output.append(contentsOf: date)
        if closes {
            output.append(text: "\r\nConnection: close\r\n\r\n")
        } else if minorVersion == 0 {
            output.append(text: "\r\nConnection: keep-alive\r\n\r\n")
        } else {
            output.append(text: "\r\n\r\n")
        }
    }

    /// Fields of the connection or the framing: the server writes them itself.
    static let ours: KnownFieldNameSet = [.contentLength, .connection, .transferEncoding, .date]
}

extension [UInt8] {
    mutating func append(text: String) { append(contentsOf: text.utf8.span) }

    /// Appends `number`, which must not be negative.
    mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }
}

extension Response {
    /// What is sent in place of a response with a forbidden character. Only the id of its request is kept.
    var replacement: Response {
        guard let id = headers[.xRequestID], ResponseRule.isValue(id.utf8.span) else {
            return Response(status: .internalServerError)
        }
        return Response(status: .internalServerError, headers: [.xRequestID: id])
    }
}

/// What a response must not contain (RFC 9110 §5.5): a line end in a field would start another field or response.
enum ResponseRule {
    static func isValid(_ response: Response) -> Bool {
        isStatus(response.status) && isValue(response.status.reasonPhrase.utf8.span)
            && areValues(of: response.headers)
    }

    static func areValues(of fields: Fields) -> Bool { fields.allSatisfy { isValue($0.value.utf8.span) } }

    static func isStatus(_ status: Status) -> Bool { (200...599).contains(status.code) }

    /// Whether `bytes` may be in a field's value: visible characters, blanks, tabs, and bytes beyond ASCII. Names are
    /// checked by their type, which makes them tokens. Written so that the compiler can vectorize it.
    static func isValue(_ bytes: borrowing Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var forbidden: UInt8 = 0
            unsafe bytes.forEach { byte in
                let isControl: UInt8 = byte < 0x20 ? 1 : 0
                let isTab: UInt8 = byte == 0x09 ? 1 : 0
                let isDelete: UInt8 = byte == 0x7F ? 1 : 0
                forbidden |= isControl & ~isTab | isDelete
            }
            return forbidden == 0
        }
    }
}
