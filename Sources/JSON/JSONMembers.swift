/// A member of a JSON document with an invalid value.
public struct JSONFault: Error, Sendable, Equatable {
    public let member: String
    /// What was expected, as the end of the sentence "must be …".
    public let expected: String

    public init(_ member: String, _ expected: String) {
        self.member = member
        self.expected = expected
    }
}

/// Reads the members of an object; each fault names its member. A null member counts as absent.
public struct JSONMembers: Sendable {
    private let json: JSON

    public init(_ json: JSON) throws(JSONFault) {
        guard case .object = json else { throw JSONFault("", "a JSON object") }
        self.json = json
    }

    /// Whether the document contains `member`.
    public func has(_ member: String) -> Bool { json[member] != nil }

    private func value(_ member: String) -> JSON? {
        guard let value = json[member], value != .null else { return nil }
        return value
    }

    /// Text of 1 to `most` bytes without control characters.
    public func text(_ member: String, most: Int = 200) throws(JSONFault) -> String? {
        guard let value = value(member) else { return nil }
        guard let text = value.string, (1...most).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { throw JSONFault(member, "a string of 1 to \(most) bytes without control characters") }
        return text
    }

    /// A name of 1 to `most` bytes that users can read and tell from other names: without invisible characters and
    /// without characters that change the direction of the text around it (Unicode TR36 §2.10).
    public func name(_ member: String, most: Int) throws(JSONFault) -> String? {
        guard let text = try text(member, most: most) else { return nil }
        guard text.unicodeScalars.allSatisfy(\.isSeen), text.unicodeScalars.contains(where: { !$0.isBlank }) else {
            throw JSONFault(
                member, "a name without control characters, invisible ones, and ones that turn the direction of text")
        }
        return text
    }

    /// Text of 1 to `most` bytes for users to read, in lines: the characters of a name, and line feeds.
    public func lines(_ member: String, most: Int) throws(JSONFault) -> String? {
        guard let value = value(member) else { return nil }
        guard let text = value.string, (1...most).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.isSeen || $0 == "\n" }),
            text.unicodeScalars.contains(where: { !$0.isBlank })
        else {
            throw JSONFault(
                member,
                "a text of 1 to \(most) bytes in lines that end with a line feed alone, without other control "
                    + "characters, invisible ones, and ones that turn the direction of text")
        }
        return text
    }

    public func required(_ member: String, most: Int = 200) throws(JSONFault) -> String {
        guard let text = try text(member, most: most) else { throw JSONFault(member, "given") }
        return text
    }

    public func requiredName(_ member: String, most: Int) throws(JSONFault) -> String {
        guard let name = try name(member, most: most) else { throw JSONFault(member, "given") }
        return name
    }

    public func flag(_ member: String) throws(JSONFault) -> Bool? {
        guard let value = value(member) else { return nil }
        guard let flag = value.bool else { throw JSONFault(member, "true or false") }
        return flag
    }

    /// An array of at most `most` strings.
    public func list(_ member: String, most: Int = 50) throws(JSONFault) -> [String]? {
        guard let value = value(member) else { return nil }
        guard let list = value.strings, list.count <= most, !list.contains(where: { $0.utf8.contains(0) }) else {
            throw JSONFault(member, "an array of at most \(most) strings")
        }
        return list
    }

    /// A whole number of seconds within `range`.
    public func seconds(_ member: String, within range: ClosedRange<Int64>) throws(JSONFault) -> Duration? {
        guard let value = value(member) else { return nil }
        guard let seconds = value.integer, range.contains(seconds) else {
            throw JSONFault(member, "a whole number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return .seconds(seconds)
    }

    /// A whole number within `range`.
    public func count(_ member: String, within range: ClosedRange<Int>) throws(JSONFault) -> Int? {
        guard let value = value(member) else { return nil }
        guard let count = value.integer.flatMap(Int.init(exactly:)), range.contains(count) else {
            throw JSONFault(member, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    /// The raw member, for a caller that reads it itself.
    public func any(_ member: String) -> JSON? { value(member) }
}

extension Unicode.Scalar {
    /// Not a control or format character, which include bidirectional overrides and most invisible characters, and not
    /// a line separator. Variation selectors and joiners are allowed: Persian and Hindi cannot do without joiners.
    fileprivate var isSeen: Bool {
        switch properties.generalCategory {
        case .format where properties.isJoinControl: true
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
        }
    }

    /// Includes the Braille pattern without dots.
    fileprivate var isBlank: Bool {
        properties.isWhitespace || value == 0x2800 || properties.isVariationSelector || properties.isJoinControl
    }
}
