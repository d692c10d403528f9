import CNGHTTP2
import HTTP

/// The fields of a response in nghttp2's form. nghttp2 checks none of them. It is filled again for each response of a
/// connection.
struct HTTP2ResponseHead {
    /// Names and values, one after the other.
    private var text: [UInt8] = []
    /// Where each of them ends.
    private var ends: [Int] = []

    /// The most bytes of memory that are kept for the next response.
    private static let mostKept = 2 * 1024

    /// Takes the fields of `response`. False when it contains something forbidden.
    mutating func fill(_ response: Response, date: [UInt8]) -> Bool {
        empty()
        text.reserveCapacity(512)
        add(":status") { $0.append(decimal: response.status.code) }
        response.headers.forEach { field in
            if !Self.isLeft(field.name) { add(field.name.folded) { $0.append(text: field.value) } }
        }
        add("date") { $0.append(contentsOf: date) }
        if let length = response.contentLength { add("content-length") { $0.append(decimal: length) } }
        return ResponseRule.isStatus(response.status) && ResponseRule.isValue(text.span)
    }

    /// Forgets the fields, and the memory of many.
    mutating func empty() {
        let isKept = text.capacity <= Self.mostKept
        text.removeAll(keepingCapacity: isKept)
        ends.removeAll(keepingCapacity: isKept)
    }

    /// Fields of an HTTP/1.1 connection (RFC 9113 §8.2.2), and fields that the server writes itself.
    private static func isLeft(_ name: FieldName) -> Bool {
        left.contains(name) || !name.isKnown && (name.folded == "keep-alive" || name.folded == "proxy-connection")
    }
    private static let left: KnownFieldNameSet = [.contentLength, .date, .connection, .transferEncoding, .upgrade]

    private mutating func add(_ name: String, _ writeValue: (inout [UInt8]) -> Void) {
        text.append(text: name)
        ends.append(text.count)
        writeValue(&text)
        ends.append(text.count)
    }

    var byteCount: Int { text.count }

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
        head.add(":status") { $0.append(decimal: 100) }
        _ = unsafe head.withFields { fields, count in
            unsafe nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, fields, count, nil)
        }
    }

    private func withFields(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32) -> Int32 {
        unsafe text.withUnsafeBufferPointer { text in
            // nghttp2 copies the bytes and does not change them, though its type does not say so.
            guard let base = unsafe UnsafeMutablePointer(mutating: text.baseAddress) else {
                return NGHTTP2_ERR_INVALID_ARGUMENT.rawValue
            }
            let count = ends.count / 2
            return unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count) { fields in
                var start = 0
                for index in 0..<count {
                    let (middle, end) = (ends[2 * index], ends[2 * index + 1])
                    unsafe fields.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: base + start, value: base + middle, namelen: middle - start, valuelen: end - middle,
                            flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                    start = end
                }
                return unsafe body(UnsafePointer(fields.baseAddress), count)
            }
        }
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
