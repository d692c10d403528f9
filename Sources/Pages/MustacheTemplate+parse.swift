import Mustache

extension MustacheTemplate {
    /// Parses `text`, and allows no way around the escaping in it.
    static func parse(_ text: String, of file: String, key: String? = nil) throws(TemplateFault) -> MustacheTemplate {
        // {{{raw}}} and {{&raw}} do not escape; partials, parents, delimiters and pragmas are not ours to follow.
        if text.contains("{{"), let tag = text.firstMatch(of: /\{\{\s*[{&><$=%]/)?.output {
            throw TemplateFault(
                file: file, key: key, "“\(tag)” is not allowed: use {{name}}, {{#name}}, {{^name}} and {{/name}}")
        }
        do {
            return try MustacheTemplate(parsing: text)
        } catch {
            throw TemplateFault(file: file, key: key, "\(error)")
        }
    }
}
