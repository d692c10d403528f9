package import HTTP
package import OAuth
import Text
import Values

/// `multipart/form-data` (RFC 7578), as libcurl writes a form for SPiD's PHP SDK: named text parts only.
extension Form {
    /// The largest number of parts.
    static let mostParts = 100
    /// The longest boundary (RFC 2046 §5.1.1).
    static let longestBoundary = 70

    /// Whether the content type is that of a form in parts.
    package static func isMultipart(_ request: Request) -> Bool { mediaType(request) == "multipart/form-data" }

    package static func readMultipart(_ request: Request) throws(OAuthError) -> Form {
        guard let boundary = boundary(request.headers[.contentType] ?? "") else { throw malformedParts }
        return try parse(multipart: try bytes(of: request), boundary: boundary)
    }

    /// Reads the parts between lines of `boundary`. The body must contain nothing else, and each part only one header
    /// field, its name. Files, other encodings and nested parts are refused, because no client sends them.
    package static func parse(multipart body: [UInt8], boundary: String) throws(OAuthError) -> Form {
        let line = Array("--\(boundary)".utf8)
        let between = Array("\r\n".utf8) + line
        guard body.starts(with: line) else { throw malformedParts }
        var rest = body[line.count...]
        var pairs: [Pair] = []
        while rest.starts(with: [0x0D, 0x0A]) {
            guard pairs.count < mostParts else { throw malformedParts }
            rest = rest.dropFirst(2)
            guard let head = place(of: [0x0D, 0x0A, 0x0D, 0x0A], in: rest), let name = name(rest[..<head]),
                let end = place(of: between, in: rest[(head + 4)...]), let value = text(rest[(head + 4)..<end])
            else { throw malformedParts }
            guard name.isStreamSafe, value.isStreamSafe else { throw .tooManyMarks }
            pairs.append((name, value))
            rest = rest[(end + between.count)...]
        }
        let end = Array("--".utf8)
        guard !pairs.isEmpty, rest.starts(with: end), rest.count == 2 || rest.dropFirst(2).elementsEqual([0x0D, 0x0A])
        else { throw malformedParts }
        return Form(pairs: pairs)
    }

    /// The one parameter of the content type, perhaps in quotes.
    private static func boundary(_ type: String) -> String? {
        let parts = type.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let parameter = parts[1].trimmingScalars(while: \.isBlank)
        guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased() == "boundary" else {
            return nil
        }
        var value = parameter[parameter.index(after: equals)...]
        if value.count > 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
        let others = "'()+_,-./:=?".utf8
        let isGood = value.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || others.contains(byte)
        }
        return isGood && (1...longestBoundary).contains(value.utf8.count) ? String(value) : nil
    }

    /// `Content-Disposition: form-data; name="…"`, without escapes.
    private static func name(_ head: ArraySlice<UInt8>) -> String? {
        guard let field = text(head)?[...], !field.contains(where: \.isNewline), let colon = field.firstIndex(of: ":"),
            field[..<colon].lowercased() == "content-disposition"
        else { return nil }
        let parts = field[field.index(after: colon)...].split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.trimmingScalars(while: \.isBlank) }
        guard parts.count == 2, parts[0].lowercased() == "form-data" else { return nil }
        let beginning = "name=\""
        guard parts[1].lowercased().hasPrefix(beginning), parts[1].utf8.count > beginning.utf8.count + 1 else {
            return nil
        }
        let name = parts[1].dropFirst(beginning.count)
        guard name.hasSuffix("\"") else { return nil }
        let plain = name.dropLast()
        return plain.utf8.contains { "\"\\%".utf8.contains($0) } ? nil : String(plain)
    }

    /// UTF-8 without a NUL, which cannot be stored.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// The first place where `bytes` occur.
    private static func place(of bytes: [UInt8], in rest: ArraySlice<UInt8>) -> Int? {
        guard rest.count >= bytes.count else { return nil }
        return (rest.startIndex...(rest.endIndex - bytes.count)).first { start in
            rest[start] == bytes[0] && rest[start...].starts(with: bytes)
        }
    }

    private static let malformedParts = OAuthError(
        .invalidRequest, "malformed_multipart",
        "The form is malformed: it must have 1 to \(mostParts) parts of text, each with a name and nothing else.")
}
