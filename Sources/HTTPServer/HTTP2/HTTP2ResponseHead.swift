import CNGHTTP2
import HTTP

/// The fields of a response in nghttp2's form. nghttp2 checks none of them. It is filled again for each response of a
/// connection.
@safe struct HTTP2ResponseHead {
    /// Values, and names that are not known, one after the other.
    private var text: [UInt8] = []
    private var lines: [Line] = []

    fileprivate struct Line {
        /// Nil for a name that is not known.
        let name: StaticString?
        /// The end of the name in `text`, if the name is there, and the end of the value.
        let nameEnd: Int
        let end: Int
    }

    /// The most bytes of memory that are kept for the next response, of `text` and of `lines`.
    private static let mostKept = 2 * 1024

    /// Takes the fields of `response`, and those of `common` that it lacks. False when they contain a forbidden
    /// character.
    mutating func fill(_ response: Response, common: Fields, date: [UInt8]) -> Bool {
        empty()
        text.reserveCapacity(512)
        addStatus(response.status.code)
        response.headers.forEach { add($0) }
        common.forEach { if !response.headers.contains($0.name) { add($0) } }
        text.append(contentsOf: date)
        endLine(named: "date")
        if let length = response.contentLength {
            text.append(decimal: length)
            endLine(named: "content-length")
        }
        return ResponseRule.isStatus(response.status) && ResponseRule.isValue(text.span)
    }

    /// Forgets the fields, and the memory of many.
    mutating func empty() {
        let isKept = text.capacity <= Self.mostKept && lines.capacity <= Self.mostKept / MemoryLayout<Line>.stride
        text.removeAll(keepingCapacity: isKept)
        lines.removeAll(keepingCapacity: isKept)
    }

    /// Fields of an HTTP/1.1 connection (RFC 9113 §8.2.2), and fields that the server writes itself.
    private static let omitted: KnownFieldNameSet = [.contentLength, .date, .connection, .transferEncoding, .upgrade]
    private static func isOfConnection(_ name: String) -> Bool { name == "keep-alive" || name == "proxy-connection" }

    private mutating func add(_ field: borrowing Field) {
        if let known = field.name.knownFolded {
            if !Self.omitted.contains(field.name) { add(known, field.value) }
        } else if let name = field.name.otherFolded, !Self.isOfConnection(name) {
            add(name, field.value)
        }
    }

    private mutating func addStatus(_ code: Int) {
        text.append(decimal: code)
        endLine(named: ":status")
    }

    private mutating func add(_ name: StaticString, _ value: borrowing String) {
        text.append(contentsOf: value.utf8.span)
        endLine(named: name)
    }

    private mutating func add(_ name: String, _ value: String) {
        text.append(text: name)
        let nameEnd = text.count
        text.append(text: value)
        lines.append(Line(name: nil, nameEnd: nameEnd, end: text.count))
    }

    /// Ends a line whose value is in `text`.
    private mutating func endLine(named name: StaticString) {
        lines.append(Line(name: name, nameEnd: 0, end: text.count))
    }

    /// The memory that nghttp2 holds for it until it is sent.
    var byteCount: Int { unsafe text.count + lines.count * MemoryLayout<nghttp2_nv>.stride }

    /// Submits the response and returns nghttp2's result. nghttp2 asks for the body later.
    func submit(on stream: Int32, hasBody: Bool, in session: OpaquePointer) -> Int32 {
        unsafe withFields { fields, count in
            guard hasBody else { return unsafe nghttp2_submit_response(session, stream, fields, count, nil) }
            var provider = unsafe nghttp2_data_provider(
                source: nghttp2_data_source(ptr: nil), read_callback: readResponseBody)
            return unsafe nghttp2_submit_response(session, stream, fields, count, &provider)
        }
    }

    static func submitContinue(on stream: Int32, in session: OpaquePointer) {
        var head = HTTP2ResponseHead()
        head.addStatus(100)
        _ = unsafe head.withFields { fields, count in
            unsafe nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, fields, count, nil)
        }
    }

    private func withFields(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32) -> Int32 {
        unsafe text.withUnsafeBufferPointer { text in
            // nghttp2 copies the text and does not change it, though its type does not say so.
            guard let base = unsafe UnsafeMutablePointer(mutating: text.baseAddress) else {
                return NGHTTP2_ERR_INVALID_ARGUMENT.rawValue
            }
            return unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: lines.count) { fields in
                var start = 0
                for (index, line) in lines.enumerated() {
                    unsafe fields.initializeElement(at: index, to: line.field(from: start, in: base))
                    start = line.end
                }
                return unsafe body(UnsafePointer(fields.baseAddress), lines.count)
            }
        }
    }
}

extension HTTP2ResponseHead.Line {
    /// The line in nghttp2's form. A known name is in lower case and never moves, so nghttp2 need not copy it, and does
    /// not write to it: it only folds its copies.
    fileprivate func field(from start: Int, in text: UnsafeMutablePointer<UInt8>) -> nghttp2_nv {
        guard let name else {
            return unsafe nghttp2_nv(
                name: text + start, value: text + nameEnd, namelen: nameEnd - start, valuelen: end - nameEnd,
                flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
        }
        return unsafe nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: text + start,
            namelen: name.utf8CodeUnitCount, valuelen: end - start,
            flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue))
    }
}

extension Response {
    /// RFC 9110 §8.6. Nil when the field is not sent.
    fileprivate var contentLength: Int? {
        guard status.mayHaveBody else { return nil }
        return switch body {
        case .bytes(let bytes): bytes.count
        case .text(let text): text.utf8.count
        case .stream: nil
        }
    }
}
