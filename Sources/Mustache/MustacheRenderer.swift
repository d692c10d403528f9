/// Writes the parts of a template into one buffer.
struct MustacheRenderer {
    /// Limits templates inside templates, since a value may lead a template back to itself. A page nests three.
    private static let deepest = 32

    private(set) var output: [UInt8] = []
    private let escaping: MustacheTemplate.Escaping
    /// From the outermost to the current one.
    private var contexts: [MustacheContext]
    private var depth = 0

    init(_ values: [String: Any], escaping: MustacheTemplate.Escaping) {
        self.escaping = escaping
        contexts = [MustacheContext(values)]
        output.reserveCapacity(8192)
    }

    mutating func write(_ parts: [MustacheTemplate.Part]) {
        for part in parts {
            switch part {
            case .text(let text): output += text
            case .variable(let name, let isEscaped):
                if let value = value(of: name) { write(value, isEscaped: isEscaped) }
            case .section(let name, let isInverted, let parts):
                let value = value(of: name)
                if isInverted { writeInverted(parts, for: value) } else { writeSection(parts, for: value) }
            }
        }
    }

    private mutating func write(_ value: Any, isEscaped: Bool) {
        if let template = value as? MustacheTemplate {
            guard depth < Self.deepest else { return }
            depth += 1
            write(template.parts)
            depth -= 1
            return
        }
        let text = value as? String ?? String(describing: value)
        switch escaping {
        case .html where isEscaped: HTMLText.write(text, to: &output)
        default: output += text.utf8
        }
    }

    private mutating func writeSection(_ parts: [MustacheTemplate.Part], for value: Any?) {
        switch value {
        case nil: break
        case let flag as Bool: if flag { write(parts) }
        case let values as [Any]: for value in values { write(parts, within: value) }
        case .some(let value): write(parts, within: value)
        }
    }

    private mutating func writeInverted(_ parts: [MustacheTemplate.Part], for value: Any?) {
        switch value {
        case nil: write(parts)
        case let flag as Bool: if !flag { write(parts) }
        case let values as [Any]: if values.isEmpty { write(parts) }
        case .some: break
        }
    }

    private mutating func write(_ parts: [MustacheTemplate.Part], within value: Any) {
        contexts.append(MustacheContext(value))
        write(parts)
        contexts.removeLast()
    }

    /// The first name's value in the innermost context that has it, then the member of each further name in turn.
    private func value(of name: MustacheName) -> Any? {
        guard let current = contexts.last else { return nil }
        guard let first = name.path.first else { return current.value }
        let found =
            name.isOfCurrent
            ? current.members[first] : contexts.reversed().lazy.compactMap { $0.members[first] }.first
        return name.path.dropFirst().reduce(found) { value, name in
            value.flatMap { MustacheContext($0).members[name] }
        }
    }
}

/// A value whose members a template can name.
struct MustacheContext {
    let value: Any
    let members: [String: Any]

    init(_ value: Any) {
        self.value = value
        switch value {
        case let members as [String: Any]: self.members = members
        case is String: members = [:]
        default:
            members = Mirror(reflecting: value).children.reduce(into: [:]) { members, child in
                guard let name = child.label, let value = Self.unwrapped(child.value) else { return }
                members[name] = value
            }
        }
    }

    /// The value in an optional, or nil for none: a property without a value counts as missing.
    private static func unwrapped(_ value: Any) -> Any? {
        if let optional = value as? any OptionalValue { optional.wrapped } else { value }
    }
}

private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

/// Writes text so that HTML reads it as text, inside an element or inside a quoted attribute.
///
/// It compares bytes, not characters: a quote with a combining accent is one character, but a browser still sees a
/// quote.
enum HTMLText {
    static func write(_ text: String, to output: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): output += "&amp;".utf8
            case UInt8(ascii: "<"): output += "&lt;".utf8
            case UInt8(ascii: ">"): output += "&gt;".utf8
            case UInt8(ascii: "\""): output += "&quot;".utf8
            case UInt8(ascii: "'"): output += "&#39;".utf8
            default: output.append(byte)
            }
        }
    }
}
