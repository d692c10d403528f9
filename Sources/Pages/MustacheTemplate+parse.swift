import Mustache

extension MustacheTemplate {
    /// How values are written.
    enum Escaping: String {
        case markup = "{{% CONTENT_TYPE: ESCAPED}}"
        case nothing = "{{% CONTENT_TYPE: TEXT}}"
        /// As in the template that this becomes a part of.
        case asAround = ""
    }

    /// Parses `text`, and allows no way around the escaping in it.
    static func parse(
        _ text: String, of file: String, key: String? = nil, escaping: Escaping
    ) throws(TemplateFault) -> MustacheTemplate {
        // {{{raw}}} and {{&raw}} do not escape; partials, parents, delimiters and pragmas are not ours to follow.
        if text.contains("{{"), let tag = text.firstMatch(of: /\{\{\s*[{&><$=%]/)?.output {
            throw TemplateFault(
                file: file, key: key, "“\(tag)” is not allowed: use {{name}}, {{#name}}, {{^name}} and {{/name}}")
        }
        MustacheContentTypes.register(EscapedText(), named: "ESCAPED")
        do {
            return try MustacheTemplate(string: escaping.rawValue + text)
        } catch let error as ParserError {
            let place = error.context
            throw TemplateFault(
                file: file, key: key, "\(error.error) in line \(place.lineNumber), column \(place.columnNumber)")
        } catch {
            throw TemplateFault(file: file, key: key, "\(error)")
        }
    }
}
