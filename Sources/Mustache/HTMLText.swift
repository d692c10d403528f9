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
