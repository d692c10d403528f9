/// A parsed template: text with variables, sections, inverted sections and comments (mustache(5)).
///
/// Partials, blocks, lambdas and other delimiters are not part of it.
public struct MustacheTemplate: Sendable {
    enum Part: Sendable {
        case text([UInt8])
        case variable(MustacheName, isEscaped: Bool)
        case section(MustacheName, isInverted: Bool, parts: [Part])
    }

    /// How values are written.
    public enum Escaping: Sendable {
        /// As text of HTML, inside an element or inside a quoted attribute.
        case html
        /// As they are.
        case none
    }

    let parts: [Part]

    /// Parses `text`, once for all renderings.
    public init(parsing text: String) throws(MustacheFault) {
        var parser = MustacheParser(text)
        parts = try parser.template()
    }

    /// Writes the template with `values`, by name.
    ///
    /// A value is text or a number, a Bool, an array, a dictionary by name, a template to write in its place with the
    /// same values, or anything else, whose properties are its members. A name without a value writes nothing.
    public func render(_ values: [String: Any], escaping: Escaping) -> String {
        var renderer = MustacheRenderer(values, escaping: escaping)
        renderer.write(parts)
        return String(decoding: renderer.output, as: UTF8.self)
    }
}
