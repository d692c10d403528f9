import Text

/// The `Forwarded` field of a proxy (RFC 7239 §4). A client chooses part of what proxies quote in it, such as the host,
/// so quoted text is never parsed further.
enum ForwardedField {
    /// The address in each element of `field`: nil for an element that names none, or names it twice. A malformed field
    /// gives a single nil.
    static func hops(in field: String) -> [String?] {
        var scanner = Scanner(rest: field.unicodeScalars[...])
        var hops: [String?] = []
        repeat {
            guard let pairs = scanner.element() else { return [nil] }
            let named = pairs.filter { $0.name == "for" }
            // A list may have empty elements (RFC 9110 §5.6.1).
            if !pairs.isEmpty { hops.append(named.count == 1 ? host(Substring(named[0].value)) : nil) }
        } while scanner.skip(",")
        return scanner.rest.isEmpty ? hops : [nil]
    }

    /// The address without brackets and port.
    static func host(_ text: Substring) -> String? {
        let text = String(text.trimming(while: \.isWhitespace))
        if text.hasPrefix("[") { return text.dropFirst().split(separator: "]").first.map(String.init) }
        return text.filter { $0 == ":" }.count == 1 ? text.split(separator: ":").first.map(String.init) : text
    }

    private struct Scanner {
        var rest: Substring.UnicodeScalarView

        mutating func skip(_ sign: Unicode.Scalar) -> Bool {
            guard rest.first == sign else { return false }
            rest.removeFirst()
            return true
        }

        /// The pairs of the next element; nil when the field is not well-formed here.
        mutating func element() -> [(name: String, value: String)]? {
            var pairs: [(name: String, value: String)] = []
            repeat {
                let name = text(until: "=").lowercased()
                // Some fields end with a semicolon.
                if name.isEmpty, rest.first != "=" { continue }
                guard skip("="), let value = value() else { return nil }
                pairs.append((name, value))
            } while skip(";")
            return pairs
        }

        /// A quoted string without its quotes, or the text up to the next separator.
        private mutating func value() -> String? {
            space()
            guard skip("\"") else {
                let value = text(until: ",")
                return value.contains("\"") ? nil : value
            }
            var value = String.UnicodeScalarView()
            while let sign = rest.popFirst() {
                if sign == "\"" {
                    space()
                    return String(value)
                }
                guard sign == "\\" else {
                    value.append(sign)
                    continue
                }
                guard let quoted = rest.popFirst() else { return nil }
                value.append(quoted)
            }
            return nil
        }

        private mutating func text(until end: Unicode.Scalar) -> String {
            let text = rest.prefix { $0 != end && $0 != "," && $0 != ";" }
            rest = rest.dropFirst(text.count)
            return String(Substring(text).trimming(while: \.isWhitespace))
        }

        private mutating func space() { rest = rest.drop { $0 == " " || $0 == "\t" } }
    }
}
