import Foundation
import Testing

/// The table of all reasons in the log is complete, and lists no other words.
@Suite struct ReasonTests {
    private static let page = "docs/operating/reasons.md"
    private static let word = #""([a-z][a-z0-9]*(?:_[a-z0-9]+)*)""#
    /// One word, or one of two.
    private static let words = #"(?:[^"\n]{0,80}\? "# + word + #"\s*:\s*"# + word + "|" + word + ")"

    /// How the sources give a refusal its reason.
    private static let makers = [
        #"OAuthError\(\s*\.\w+,\s*"#, #"\b(?:\w*Refused|refused|ofSelf)\(\s*(?:\.\w+,\s*)?"#,
        #"\b(?:because|RefusalLine|NamedRefusal|receiver|wrongUserCredentials|Self\.log)\(\s*"#,
        #"\b(?:gone|wrong)\(reason:\s*"#, #",\s*reason:\s*"#, #"\bRefusal\(\s*\.\w+,\s*"#, #"\.(?:ended|rests)\("#,
        #""reason":\s*"#,
    ].map { $0 + words }

    /// Where all words are reasons.
    private static let blocks = [
        #"var reason: String \{[\s\S]*?\n    \}"#, #"enum (?:Refused|HeldBack)\b[\s\S]*?\n    \}"#,
    ]

    private static func all(_ pattern: String, in text: String) throws -> [[String]] {
        let expression = try NSRegularExpression(pattern: pattern)
        return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).map { match in
            (0..<match.numberOfRanges).compactMap { Range(match.range(at: $0), in: text).map { String(text[$0]) } }
        }
    }

    /// The reasons that the sources name.
    private static func named() throws -> Set<String> {
        var named: Set<String> = []
        // Questions to other servers have other outcomes.
        for file in SourceTree.sources where !["Outbound", "Transfer"].contains(file.module) {
            for maker in makers {
                for match in try all(maker, in: file.text) { named.formUnion(match.dropFirst()) }
            }
            for block in blocks {
                for match in try all(block, in: file.text) {
                    for found in try all(word, in: match[0]) { named.insert(found[1]) }
                }
            }
        }
        return named
    }

    /// The words in the first column of the page's tables of reasons.
    private static func listed() throws -> [String] {
        let rows = try SourceTree.file(page).text.split(separator: "\n")
        var isOfReasons = false
        var listed: [String] = []
        for row in rows {
            if !row.hasPrefix("|") { isOfReasons = false }
            if row.hasPrefix("| `reason` | means") { isOfReasons = true }
            guard isOfReasons, let cell = row.split(separator: "|").first else { continue }
            listed += try all("`([a-zA-Z0-9_]+)`", in: String(cell)).map { $0[1] }
        }
        return listed.filter { $0 != "reason" }
    }

    @Test("docs/operating/reasons.md lists every reason that a refusal can have in the log")
    func complete() throws {
        let (named, listed) = (try Self.named(), Set(try Self.listed()))
        #expect(named.count > 300, "where are the reasons?")
        for reason in named.subtracting(listed).sorted() { Issue.record("not listed: \(reason)") }
    }

    @Test("No reason of an OAuthError is put together, so that a search finds the place of each")
    func whole() throws {
        for file in SourceTree.sources {
            let found = try Self.all(#"OAuthError\(\s*\.\w+,\s*"[^"\n]*\\\("#, in: file.text)
            #expect(found.isEmpty, "\(file.path)")
        }
    }

    @Test("docs/operating/reasons.md lists each reason once, and only words of the sources")
    func noOthers() throws {
        let listed = try Self.listed()
        #expect(Set(listed).count == listed.count)
        let code = SourceTree.sources.map(\.text).joined()
        for reason in listed where reason == reason.lowercased() {
            #expect(code.contains("\"\(reason)\"") || code.contains("\"\(reason): "), "listed, but gone: \(reason)")
        }
    }
}
