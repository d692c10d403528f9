import Mustache

/// Writes text so that HTML reads it as text, inside an element or inside a quoted attribute.
///
/// Mustache's own escaper compares whole characters, so a quote followed by a combining accent is, to it, no quote and
/// leaves an attribute open. A browser reads code points, and so does this.
struct EscapedText: MustacheContentType {
    func escapeText(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
