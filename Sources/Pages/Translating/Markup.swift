/// A template's text as bytes, to search for marks. Searching in characters took half of the start-up time.
struct Markup {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The index of the next `mark`, from `start` on.
    func firstIndex(of mark: String, from start: Int = 0) -> Int? {
        let mark = Array(mark.utf8)
        var place = start
        while place + mark.count <= bytes.count {
            if bytes[place] == mark[0], bytes[place..<place + mark.count].elementsEqual(mark) { return place }
            place += 1
        }
        return nil
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The text of the first heading, `<h1 …>text</h1>`, that contains only text.
    var heading: String? {
        var start = 0
        while let tag = firstIndex(of: "<h1", from: start) {
            start = tag + 3
            guard let opened = firstIndex(of: ">", from: start), let end = firstIndex(of: "<", from: opened) else {
                break
            }
            if end > opened + 1, firstIndex(of: "</h1>", from: end) == end { return text(opened + 1..<end) }
        }
        return nil
    }

    /// The first Mustache tag that avoids the escaping or includes other files: `{{{raw}}}` and `{{&raw}}` do not
    /// escape; partials, parents, delimiters and pragmas are not supported.
    var forbiddenTag: String? {
        var start = 0
        while let tag = firstIndex(of: "{{", from: start) {
            var kind = tag + 2
            while kind < bytes.count, bytes[kind] == 0x20 || (0x09...0x0D).contains(bytes[kind]) { kind += 1 }
            if kind < bytes.count, Self.forbidden.contains(bytes[kind]) { return text(tag..<kind + 1) }
            start = tag + 1
        }
        return nil
    }

    private static let forbidden = Array("{&><$=%".utf8)
}
