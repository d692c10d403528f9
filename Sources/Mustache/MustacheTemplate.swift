/// A parsed template: text with variables, sections, inverted sections and comments (mustache(5)).
///
/// Partials, blocks, lambdas and other delimiters are not supported.
public struct MustacheTemplate: Sendable {
    enum Part: Sendable {
        case text([UInt8])
        case variable(MustacheName, isEscaped: Bool)
        case section(MustacheName, isInverted: Bool, parts: [Part])
    }

    /// How values are written.
    public enum Escaping: Sendable {
        /// Escaped as HTML text, inside an element or inside a quoted attribute.
        case html
        /// Unchanged.
        case none
    }

    let parts: [Part]

    /// Parses `text`, once for all renderings.
    public init(parsing text: String) throws(MustacheFault) {
        var parser = MustacheParser(text)
        parts = try parser.template()
    }

    /// Renders the template with `values`, by name.
    ///
    /// A value is a text, a number, a Bool, an array, a dictionary by name, a template to render in its place with the
    /// same values, or anything else, whose properties are its members. A name without a value writes nothing.
    public func render(_ values: [String: Any], escaping: Escaping) -> String {
        var renderer = MustacheRenderer(values, escaping: escaping)
        renderer.write(parts)
        return String(decoding: renderer.output, as: UTF8.self)
    }
}

/// The name in a tag: `name`, `outer.inner`, or `.` for the current value.
struct MustacheName: Sendable, Equatable {
    let text: String
    /// Empty for the current value itself.
    let path: [String]
    /// Whether to look only in the current value, as for `.name`.
    let isOfCurrent: Bool

    init(_ text: String) {
        self.text = text
        path = text.split(separator: ".").map(String.init)
        isOfCurrent = text.hasPrefix(".")
    }

    static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "?"):
            true
        default: false
        }
    }
}

/// Why a text is not a template, and where.
public struct MustacheFault: Error, Sendable, Hashable {
    public enum Problem: Sendable, Hashable {
        case sectionNotClosed(String)
        /// The tag closes a section that is not the open one.
        case sectionNotOpen(String)
        /// A tag without its end, without a name, or with more than a name in it.
        case malformedTag
        /// Partials, blocks, delimiters and pragmas.
        case unsupportedTag
    }

    public let problem: Problem
    /// From 1.
    public let line: Int
    /// From 1, in code points.
    public let column: Int
}

extension MustacheFault: CustomStringConvertible {
    public var description: String { "\(problem) in line \(line), column \(column)" }
}

extension MustacheFault.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .sectionNotClosed(let name): "the section “\(name)” is not closed"
        case .sectionNotOpen(let name): "the section “\(name)” is closed, but it is not the one that is open"
        case .malformedTag: "a tag is not “{{”, a name and “}}”"
        case .unsupportedTag: "a tag is of a kind that is not supported"
        }
    }
}

/// Reads a template. A line that contains only one section or comment tag is not written.
struct MustacheParser {
    private let text: [UInt8]
    private var index = 0

    init(_ text: String) { self.text = Array(text.utf8) }

    private enum Tag {
        case variable(MustacheName, isEscaped: Bool)
        case opening(MustacheName, isInverted: Bool)
        case closing(MustacheName)
        case comment

        var mayStandAlone: Bool { if case .variable = self { false } else { true } }
    }

    mutating func template() throws(MustacheFault) -> [MustacheTemplate.Part] { try parts(of: nil) }

    /// The parts up to the end of `section`, or of the text.
    private mutating func parts(of section: MustacheName?) throws(MustacheFault) -> [MustacheTemplate.Part] {
        var parts: [MustacheTemplate.Part] = []
        while true {
            let start = index
            guard let opening = findTwo(UInt8(ascii: "{")) else {
                index = text.count
                if let section { throw fault(.sectionNotClosed(section.text)) }
                if start < index { parts.append(.text(Array(text[start..<index]))) }
                return parts
            }
            index = opening + 2
            let tag = try tag()
            var end = opening
            if tag.mayStandAlone, let line = lineStart(before: opening), let next = lineEnd(after: index) {
                end = max(start, line)
                index = next
            }
            if start < end { parts.append(.text(Array(text[start..<end]))) }
            switch tag {
            case .variable(let name, let isEscaped): parts.append(.variable(name, isEscaped: isEscaped))
            case .opening(let name, let isInverted):
                parts.append(.section(name, isInverted: isInverted, parts: try self.parts(of: name)))
            case .closing(let name):
                guard name == section else { throw fault(.sectionNotOpen(name.text), at: opening) }
                return parts
            case .comment: continue
            }
        }
    }
}

// MARK: - Tags

extension MustacheParser {
    /// The tag whose opening braces end at `index`.
    private mutating func tag() throws(MustacheFault) -> Tag {
        guard index < text.count else { throw fault(.malformedTag) }
        let kind = text[index]
        index += 1
        switch kind {
        case UInt8(ascii: "#"): return .opening(try name(), isInverted: false)
        case UInt8(ascii: "^"): return .opening(try name(), isInverted: true)
        case UInt8(ascii: "/"): return .closing(try name())
        case UInt8(ascii: "&"): return .variable(try name(), isEscaped: false)
        case UInt8(ascii: "{"): return .variable(try name(braces: 3), isEscaped: false)
        case UInt8(ascii: "!"):
            guard let end = findTwo(UInt8(ascii: "}")) else { throw fault(.malformedTag) }
            index = end + 2
            return .comment
        case UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "%"):
            throw fault(.unsupportedTag)
        default:
            index -= 1
            return .variable(try name(), isEscaped: true)
        }
    }

    private mutating func name(braces: Int = 2) throws(MustacheFault) -> MustacheName {
        skipWhitespace()
        let start = index
        while index < text.count, MustacheName.allows(text[index]) { index += 1 }
        let name = String(decoding: text[start..<index], as: UTF8.self)
        skipWhitespace()
        let end = text[index...].prefix(braces)
        guard !name.isEmpty, end.count == braces, end.allSatisfy({ $0 == UInt8(ascii: "}") }) else {
            throw fault(.malformedTag)
        }
        index += braces
        return MustacheName(name)
    }

    private mutating func skipWhitespace() {
        while index < text.count, text[index] == 0x20 || (0x09...0x0D).contains(text[index]) { index += 1 }
    }
}

// MARK: - Places

extension MustacheParser {
    /// The next index at which `brace` occurs twice.
    private func findTwo(_ brace: UInt8) -> Int? {
        var place = index
        while place + 1 < text.count {
            if text[place] == brace, text[place + 1] == brace { return place }
            place += 1
        }
        return nil
    }

    /// Where the line of `place` begins, if only blanks precede it.
    private func lineStart(before place: Int) -> Int? {
        let start = text[..<place].lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? 0
        return start == 0 || text[start - 1] == UInt8(ascii: "\n") ? start : nil
    }

    /// Where the next line after `place` begins, if only blanks follow it.
    private func lineEnd(after place: Int) -> Int? {
        var end = text[place...].firstIndex { !Self.isBlank($0) } ?? text.count
        if end < text.count, text[end] == UInt8(ascii: "\r") { end += 1 }
        guard end < text.count else { return text.count }
        return text[end] == UInt8(ascii: "\n") ? end + 1 : nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private func fault(_ problem: MustacheFault.Problem, at place: Int? = nil) -> MustacheFault {
        let before = text[..<(place ?? index)]
        let line = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return MustacheFault(
            problem: problem, line: before.count { $0 == UInt8(ascii: "\n") } + 1,
            // A byte of the form 10xxxxxx continues a code point.
            column: before[line...].count { $0 & 0xC0 != 0x80 } + 1)
    }
}
