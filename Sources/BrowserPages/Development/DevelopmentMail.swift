public import Values

/// A mail that a server in development mode sent.
public struct DevelopmentMail: Sendable {
    let recipient: String
    let subject: String
    let text: String
    let time: Timestamp
    /// The first six digits in a row of its text.
    let code: String?
    let links: [String]

    public init(recipient: String, subject: String, text: String, at time: Timestamp) {
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.time = time
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        links = words.filter { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
        code = words.first { $0.utf8.count == 6 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    /// The lines for the console. Control characters of an address or a subject could change what a terminal shows.
    public var summary: String {
        let lines =
            ["mail to \(recipient): \(subject)"] + (code.map { ["code  \($0)"] } ?? []) + links.map { "link  \($0)" }
        return lines.map(\.withoutControls).joined(separator: "\n  ")
    }
}

extension String {
    fileprivate var withoutControls: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
