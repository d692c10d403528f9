import Text
import Values

/// The fields of a response, line by line as libcurl passes them.
struct ResponseHead {
    private(set) var fields: [(name: String, value: String)] = []
    private var isOpen = false

    /// Takes a line with its end. The next status line discards an interim response (RFC 9110 §15.2). Lines after the
    /// empty line are trailers and dropped.
    mutating func add(_ line: some Collection<UInt8>) {
        let text = String(decoding: line, as: UTF8.self)
        // Drops a line with too many combining marks, which an attacker could use to make comparing it slow.
        guard text.isStreamSafe else { return }
        if !isOpen, text.hasPrefix("HTTP/") {
            isOpen = true
            fields = []
            return
        }
        guard isOpen else { return }
        guard text != "\r\n", text != "\n" else {
            isOpen = false
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return }
        let name = String(text[..<colon])
        guard !name.isEmpty, !name.contains(where: \.isWhitespace) else { return }
        fields.append((name, String(text[text.index(after: colon)...].trimming(while: \.isWhitespace))))
    }
}
