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
