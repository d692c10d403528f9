/// A response as a client reads it.
struct WireAnswer: Equatable {
    var status: Int
    var fields: [String: String]
    var body: String

    subscript(name: String) -> String? { fields[name] }

    /// The first complete response in `bytes`, and its length.
    static func first(in bytes: [UInt8], toHead: Bool = false) -> (WireAnswer, Int)? {
        guard let end = endOfHead(bytes) else { return nil }
        let lines = String(decoding: bytes[..<(end - 4)], as: UTF8.self).split(separator: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
        }
        let status = lines.first.flatMap { Int($0.dropFirst(9).prefix(3)) } ?? 0
        if !toHead, fields["transfer-encoding"] == "chunked" {
            guard let (body, count) = chunks(bytes[end...]) else { return nil }
            return (WireAnswer(status: status, fields: fields, body: body), end + count)
        }
        let length = toHead ? 0 : fields["content-length"].flatMap { Int($0) } ?? 0
        guard bytes.count >= end + length else { return nil }
        let body = String(decoding: bytes[end..<end + length], as: UTF8.self)
        return (WireAnswer(status: status, fields: fields, body: body), end + length)
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let mark: [UInt8] = [13, 10, 13, 10]
        guard bytes.count >= 4 else { return nil }
        return (0...bytes.count - 4).first { Array(bytes[$0..<$0 + 4]) == mark }.map { $0 + 4 }
    }

    private static func chunks(_ bytes: ArraySlice<UInt8>) -> (String, Int)? {
        var (rest, body) = (bytes, [UInt8]())
        while let end = rest.firstIndex(of: 10), end > rest.startIndex {
            guard let size = Int(String(decoding: rest[rest.startIndex..<end - 1], as: UTF8.self), radix: 16),
                rest.endIndex >= end + 1 + size + 2
            else { return nil }
            body += rest[(end + 1)..<(end + 1 + size)]
            rest = rest[(end + 1 + size + 2)...]
            if size == 0 { return (String(decoding: body, as: UTF8.self), rest.startIndex - bytes.startIndex) }
        }
        return nil
    }
}
