import Mustache

extension MustacheTemplate {
    /// Parses `text`, and refuses any tag that bypasses the escaping.
    static func parse(_ text: String, of file: String, key: String? = nil) throws(TemplateFault) -> MustacheTemplate {
        if let tag = Markup(text).forbiddenTag {
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
