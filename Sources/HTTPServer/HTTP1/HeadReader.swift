import HTTP

/// Reads the head of a request line by line as its bytes come, and refuses it at the first byte that is wrong. The
/// verdict is the same however the bytes are split.
struct HeadReader {
    enum Step {
        case more
        /// The head, and the number of bytes it took.
        case head(RequestHead, Int)
        case refused(Refusal)
    }

    private let maxTarget: Int
    private let maxHeader: Int
    private let maxFields: Int

    /// The next byte to look at, and where its line begins.
    private var position = 0
    private var lineStart = 0
    private var emptyLines = 0
    private var requestLine: RequestLine?
    private var requestLineStart = 0
    private var fieldsStart = 0
    private var fields: [FieldLine] = []

    /// The longest that method, version and blanks may be together.
    private static let besideTarget = 64
    private static let maxEmptyLines = 2

    init(limits: ServerLimits) {
        (maxTarget, maxHeader, maxFields) = (limits.maxTarget, limits.maxHeader, limits.maxFields)
    }

    /// The method, even of a head that was refused later; nil before it is known.
    var method: Method? { requestLine?.method }

    /// Reads on. `bytes` begin with the request's first byte, and grow from call to call while the step is `more`.
    mutating func read(_ bytes: borrowing Span<UInt8>, peer: String?) -> Step {
        do throws(Refusal) {
            while let end = try lineEnd(bytes) {
                let line = bytes.extracting(lineStart..<end)
                let start = lineStart
                (lineStart, position) = (end + 2, end + 2)
                guard let requestLine else {
                    try readFirst(line, at: start)
                    continue
                }
                guard line.count > 0 else {
                    let head = try RequestHead(
                        requestLine, at: requestLineStart, fields: fields, in: bytes, peer: peer)
                    let count = position
                    reset()
                    return .head(head, count)
                }
                guard fields.count < maxFields else { throw Refusal.tooManyFields }
                fields.append(try FieldLine(line, offset: start))
            }
            return .more
        } catch {
            return .refused(error)
        }
    }

    private mutating func reset() {
        (position, lineStart, emptyLines, requestLine) = (0, 0, 0, nil)
        fields.removeAll(keepingCapacity: true)
    }

    private mutating func readFirst(_ line: borrowing Span<UInt8>, at start: Int) throws(Refusal) {
        guard line.count > 0 else {
            emptyLines += 1
            guard emptyLines <= Self.maxEmptyLines else { throw .badRequest("empty lines") }
            return
        }
        requestLine = try RequestLine(line, maxTarget: maxTarget)
        (requestLineStart, fieldsStart) = (start, position)
    }

    /// Where the current line ends, before its CRLF; nil if it is not complete. RFC 9112 §2.2: only CRLF ends a line.
    private mutating func lineEnd(_ bytes: borrowing Span<UInt8>) throws(Refusal) -> Int? {
        let isFirst = requestLine == nil
        let limit = isFirst ? lineStart + maxTarget + Self.besideTarget : fieldsStart + maxHeader
        let end = min(bytes.count, limit)
        for index in position..<max(position, end) {
            let byte = bytes[index]
            // Nearly every byte of a request.
            if byte >= 0x20, byte < 0x7F { continue }
            position = index
            if byte == .carriageReturn {
                guard index + 1 < bytes.count else { return nil }
                guard bytes[index + 1] == .lineFeed else { throw .badRequest("bare CR") }
                return index
            }
            // It needs no second byte: no request begins with this one.
            if index == 0, byte == .tlsHandshake { throw .encrypted }
            guard !isFirst, byte == .tab || byte > 0x7F else { throw .badRequest("a byte outside the grammar") }
        }
        position = max(position, end)
        guard position < limit else { throw isFirst ? .targetTooLong : .headerTooLarge }
        return nil
    }
}

/// The head of a valid request, with what it says about the body and the connection.
struct RequestHead {
    var request: Request
    var framing: Framing
    var minorVersion: Int
    var persists: Bool
    /// The client waits for permission to send the body (RFC 9110 §10.1.1).
    var expectsContinue: Bool

    /// Checks a head whose lines are well formed: `line` begins at `start` of `bytes`, the fields at their own ranges.
    init(
        _ line: RequestLine, at start: Int, fields: [FieldLine], in bytes: borrowing Span<UInt8>, peer: String?
    ) throws(Refusal) {
        minorVersion = line.minorVersion
        var headers = Fields()
        headers.reserveCapacity(fields.count)
        var framingFields = FramingFields(minorVersion: line.minorVersion)
        for field in fields {
            let value = bytes.extracting(field.value)
            let name = FieldName(received: bytes.extracting(field.name))
            try framingFields.note(name, value, at: field.value)
            headers.append(Field(name: name, value: value.text))
        }
        let range = line.target.lowerBound + start..<line.target.upperBound + start
        let target = try TargetRule.parse(bytes.extracting(range), method: line.method)
        if let authority = target.authority {
            let range = authority.lowerBound + range.lowerBound..<authority.upperBound + range.lowerBound
            try framingFields.checkHost(bytes, authority: range)
        } else {
            try framingFields.checkHost(bytes, authority: nil)
        }
        framing = try framingFields.framing()
        expectsContinue = try framingFields.expectsContinue()
        persists = framingFields.connection.persists(minorVersion: line.minorVersion)
        request = Request(method: line.method, target: target.target, headers: headers, peer: peer)
    }
}
