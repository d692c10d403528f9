import Text
import Values

/// The fields of an answer, line by line as libcurl hands them over.
struct ResponseHead {
    private(set) var fields: [(name: String, value: String)] = []
    private var isOpen = false

    /// Takes a line with its end. An interim answer (RFC 9110 §15.2) is forgotten with the next status line; what comes
    /// after the empty line is a trailer, and dropped.
    mutating func add(_ line: some Collection<UInt8>) {
        let text = String(decoding: line, as: UTF8.self)
        // Of the one line that has so many marks nothing is kept: comparing it would be their attack.
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
