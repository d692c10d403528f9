import Foundation
import Testing

/// Every text that tells a developer or an operator what is wrong, read from the sources.
@Suite struct RefusalTests {
    /// What makes a refusal from its text.
    static let makers: Set = [
        "OAuthError", "HTTPRefusal", "Problem", "JSONFault", "AdministrationRefusal", "SPiDRefusal", "CommandFailure",
        "Misuse", "malformed", "noToken", "targetRefused", "assertionRefused", "requestObjectRefused",
        "requestURIRefused", "codeRefused", "refreshRefused", "receiver", "refused", "unreadable", "DataFault",
        "ConfigurationFault",
    ]
    private static let list = "Tests/refusals.txt"

    @Test("Tests/refusals.txt lists every refusal with its text: a changed text is seen in review")
    func list() throws {
        let found = SourceTree.sources.flatMap { file in
            Calls(in: file.text, of: Self.makers).filter { !$0.texts.isEmpty }.map { "\(file.module): \($0.line)" }
        }
        #expect(found.count > 400, "where are the refusals?")
        let text = Set(found).sorted().map { $0 + "\n" }.joined()
        if ProcessInfo.processInfo.environment["SPINDLE_REFUSALS"] == "write" {
            try text.write(to: SourceTree.root.appending(path: Self.list), atomically: true, encoding: .utf8)
        }
        let listed = try SourceTree.file(Self.list).text
        let (now, before) = (Set(text.split(separator: "\n")), Set(listed.split(separator: "\n")))
        for line in now.subtracting(before).sorted() { Issue.record("not listed: \(line)") }
        for line in before.subtracting(now).sorted() { Issue.record("listed, but gone: \(line)") }
        #expect(listed == text, "SPINDLE_REFUSALS=write makes the list anew: look at what changes")
    }

    @Test("A call's texts are read with their interpolations, concatenated, and in lines")
    func reading() {
        let source = #"""
            // OAuthError("of a comment")
            throw OAuthError(
                .invalidScope, "reason", "one \(a("x")) " // why
                    + "two", detail: "three")
            let other = NoOAuthError("not this")
            JSONFault("member", """
                four \
                five
                six
                """)
            """#
        #expect(
            Calls(in: source, of: ["OAuthError", "JSONFault"]).map(\.line) == [
                #"OAuthError .invalidScope | reason | one \(a("x")) two | three"#,
                "JSONFault | member | four five six",
            ])
    }
}

/// The calls of some functions in Swift source, with the texts among their arguments.
private struct Calls: Sequence {
    struct Call {
        let name: String
        /// The first argument, if it is a case of an enum.
        let kind: String?
        var texts: [String]

        var line: String { ([name + (kind.map { " ." + $0 } ?? "")] + texts).joined(separator: " | ") }
    }

    private var calls: [Call] = []

    init(in text: String, of names: Set<String>) {
        var scanner = SwiftScanner(text)
        var open: [(call: Call, depth: Int)] = []
        var (word, depth, isConcatenating, isFirst) = ("", 0, false, false)
        while let token = scanner.next() {
            switch token {
            case .word(let text):
                if isFirst, word == ".", let last = open.indices.last, open[last].depth == depth {
                    open[last].call = Call(name: open[last].call.name, kind: text, texts: [])
                }
                (word, isFirst, isConcatenating) = (text, false, false)
            case .text(let text):
                for index in open.indices.suffix(1) {
                    if isConcatenating, let last = open[index].call.texts.indices.last {
                        open[index].call.texts[last] += text
                    } else {
                        open[index].call.texts.append(text)
                    }
                }
                (word, isFirst, isConcatenating) = ("\"", false, false)
            case .sign("("):
                depth += 1
                if names.contains(word) { open.append((Call(name: word, kind: nil, texts: []), depth)) }
                (word, isFirst) = ("", true)
            case .sign(")"):
                if let last = open.last, last.depth == depth { calls.append(open.removeLast().call) }
                depth -= 1
                (word, isFirst) = ("", false)
            case .sign("+"): isConcatenating = word == "\""
            case .sign(let sign): word = String(sign)
            }
        }
    }

    func makeIterator() -> IndexingIterator<[Call]> { calls.makeIterator() }
}

/// Reads Swift source as words, texts and signs, without comments.
private struct SwiftScanner {
    enum Token { case word(String), text(String), sign(Character) }

    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    mutating func next() -> Token? {
        while true {
            rest = rest.drop(while: \.isWhitespace)
            guard rest.hasPrefix("//") else { break }
            rest = rest.drop { !$0.isNewline }
        }
        guard let first = rest.first else { return nil }
        if first.isLetter || first == "_" {
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            rest = rest.dropFirst(word.count)
            return .word(String(word))
        }
        if rest.hasPrefix("\"\"\"") { return .text(lines()) }
        rest = rest.dropFirst()
        return first == "\"" ? .text(string()) : .sign(first)
    }

    /// The text up to the closing quote, with interpolations as they are written.
    private mutating func string() -> String {
        var (text, depth, isQuoted) = ("", 0, false)
        while let sign = rest.popFirst() {
            if depth == 0, sign == "\"" { break }
            text.append(sign)
            if sign == "\\", let next = rest.first {
                if depth == 0 || next != "(" { text.append(rest.removeFirst()) }
                if next == "(", depth == 0 { depth = 1 }
                continue
            }
            guard depth > 0 else { continue }
            if sign == "\"" { isQuoted.toggle() }
            if !isQuoted { depth += sign == "(" ? 1 : sign == ")" ? -1 : 0 }
        }
        return text
    }

    /// A text in lines, as one line.
    private mutating func lines() -> String {
        rest = rest.dropFirst(3)
        let end = rest.firstRange(of: "\"\"\"")?.lowerBound ?? rest.endIndex
        defer { rest = rest[end...].dropFirst(3) }
        return rest[..<end].split(separator: "\n").map { line in
            let line = line.drop(while: \.isWhitespace)
            return line.hasSuffix("\\") ? String(line.dropLast()) : line + " "
        }.joined().trimmingCharacters(in: .whitespaces)
    }
}
