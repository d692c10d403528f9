import HTTP

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
