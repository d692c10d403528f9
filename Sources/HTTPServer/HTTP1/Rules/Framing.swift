/// How the body of a request is framed (RFC 9112 §6).
enum Framing: Equatable {
    case none
    case length(Int)
    case chunked

    /// RFC 9110 §8.6: digits, nothing else. A number that overflows is an error.
    static func contentLength(_ value: borrowing Span<UInt8>) throws(Refusal) -> Int {
        guard value.count > 0 else { throw .badRequest("empty Content-Length") }
        var length = 0
        for index in 0..<value.count {
            guard value[index].isDigit else { throw .badRequest("malformed Content-Length") }
            let (product, overflows) = length.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = product.addingReportingOverflow(Int(value[index] - 0x30))
            guard !overflows, !overflowsToo else { throw .badRequest("Content-Length overflows") }
            length = sum
        }
        return length
    }

    /// RFC 9112 §6.1: exactly `chunked`.
    static func transferCoding(_ value: borrowing Span<UInt8>, minorVersion: Int) throws(Refusal) {
        guard minorVersion > 0 else { throw .badRequest("Transfer-Encoding in HTTP/1.0") }
        guard value.equalsFolded("chunked") else { throw .unknownTransferCoding }
    }
}
