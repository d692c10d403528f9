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
