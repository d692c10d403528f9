import JSON

/// One query of a template, in Ditto's legacy syntax: `_id.userID == '{{sub}}'`, `_id.team == '{{attributes.teams}}'`.
///
/// A filled-in text must not become part of the query's syntax. So a placeholder must be between quotation marks, and a
/// text that could end them drops its query. Nothing is escaped: Ditto does not document how to escape a quotation
/// mark, and the wrong way would let a text break out.
struct DittoQuery: Sendable {
    private enum Part: Sendable {
        case text(String)
        case subject
        case attribute
    }

    private static let longest = 500
    private static let quotes: Set<Character> = ["'", "\""]
    private static let attributes = "attributes."

    let text: String
    private let parts: [Part]
    /// The only attribute that it names. A list of texts makes one query of each.
    let attribute: String?

    /// `place` is its position in the document, for error messages.
    init(_ text: String, at place: String) throws(JSONFault) {
        func fault(_ expected: String) -> JSONFault { JSONFault(place, expected) }
        guard (1...Self.longest).contains(text.utf8.count), !text.hasControlCharacters else {
            throw fault("queries of 1 to \(Self.longest) bytes without control characters")
        }
        var parts: [Part] = []
        var attribute: String?
        var quote: Character?
        var rest = text[...]
        while let start = rest.firstRange(of: "{{") {
            let before = rest[..<start.lowerBound]
            quote = Self.quote(after: before, from: quote)
            guard quote != nil else { throw fault("queries whose placeholders are between quotation marks") }
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else { throw fault(Self.blanks) }
            let name = rest[start.upperBound..<end.lowerBound]
            parts.append(.text(String(before)))
            if name == "sub" {
                parts.append(.subject)
            } else {
                guard name.hasPrefix(Self.attributes), name.count > Self.attributes.count else {
                    throw fault(Self.blanks)
                }
                let named = String(name.dropFirst(Self.attributes.count))
                guard attribute == nil || attribute == named else { throw fault("queries of one attribute at most") }
                attribute = named
                parts.append(.attribute)
            }
            rest = rest[end.upperBound...]
        }
        if !parts.isEmpty {
            guard Self.quote(after: rest, from: quote) == nil else {
                throw fault("queries whose quotation marks are closed")
            }
            // A backslash may or may not escape a quotation mark, and the end of the quotes must be unambiguous.
            guard !text.contains("\\") else { throw fault("queries without backslashes, if they have placeholders") }
        }
        self.text = text
        self.parts = parts + [.text(String(rest))]
        self.attribute = attribute
    }

    private static let blanks = "queries whose placeholders are {{sub}} or {{attributes.NAME}}"

    /// The quotation mark that is open after `text`, when `quote` was open before it.
    private static func quote(after text: Substring, from quote: Character?) -> Character? {
        text.reduce(quote) { open, character in
            guard quotes.contains(character) else { return open }
            guard let open else { return character }
            return open == character ? nil : open
        }
    }

    /// The queries for a user: one, one for each text of the attribute, or none when there is nothing to fill in.
    func filled(for user: DittoUser) -> [String] {
        guard let attribute else { return [filled(user.subject, "")].compactMap(\.self) }
        return user.texts(of: attribute).compactMap { filled(user.subject, $0) }
    }

    /// How many bytes `filled` would make at most.
    func size(for user: DittoUser) -> Int {
        let texts = attribute.map { user.texts(of: $0) } ?? [""]
        var (fixed, blanks) = (0, 0)
        for part in parts {
            switch part {
            case .text(let constant): fixed += constant.utf8.count
            case .subject: fixed += user.subject.utf8.count
            case .attribute: blanks += 1
            }
        }
        return texts.reduce(0) { $0 + fixed + blanks * $1.utf8.count }
    }

    private func filled(_ subject: String, _ value: String) -> String? {
        // Once for each text, however often the query names it.
        guard attribute == nil || Self.isHarmless(value) else { return nil }
        var text = ""
        for part in parts {
            switch part {
            case .text(let constant): text += constant
            case .subject:
                guard Self.isHarmless(subject) else { return nil }
                text += subject
            case .attribute: text += value
            }
        }
        return text
    }

    /// Whether `text` cannot end the quotation marks around it.
    private static func isHarmless(_ text: String) -> Bool {
        let active: Set<Unicode.Scalar> = ["'", "\"", "\\", "`"]
        return !text.isEmpty && !text.unicodeScalars.contains(where: active.contains) && !text.hasControlCharacters
    }
}
