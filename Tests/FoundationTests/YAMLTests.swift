import Testing
import YAML

/// Which YAML is read, and how the rest is refused.
@Suite struct YAMLTests {
    private func read(_ text: String) throws -> YAMLNode { try YAMLNode(parsing: Array(text.utf8)) }

    private func fault(_ text: String) -> YAMLError? {
        do {
            _ = try YAMLNode(parsing: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test("Scalars, lists and mappings of YAML are read in every style, with comments")
    func forms() throws {
        let text = """
            # a comment
            plain: 127.0.0.1:8080   # another
            single: 'it''s'
            double: "a\\tb\\u00e5"
            folded: >-
              one
              two
            flow: [1, true, ~, 'x', '~', !!str null]
            block:
              - a
              - b
            nested: {inner: 1}
            empty:
            """
        #expect(
            try read(text)
                == .mapping([
                    .init("plain", .scalar("127.0.0.1:8080")), .init("single", .scalar("it's")),
                    .init("double", .scalar("a\tbå")), .init("folded", .scalar("one two")),
                    .init(
                        "flow",
                        .sequence([.scalar("1"), .scalar("true"), .null, .scalar("x"), .scalar("~"), .scalar("null")])),
                    .init("block", .sequence([.scalar("a"), .scalar("b")])),
                    .init("nested", .mapping([.init("inner", .scalar("1"))])), .init("empty", .null),
                ]))
    }

    @Test("A YAML alias stands for the value of its anchor")
    func aliases() throws {
        let list = YAMLNode.sequence([.scalar("1"), .scalar("2")])
        #expect(try read("a: &x [1, 2]\nb: *x") == .mapping([.init("a", list), .init("b", list)]))
    }

    @Test(
        "Malformed or unsupported YAML is refused with the line of the fault, and without quoting it",
        arguments: [
            ("", 1, "there is no document"), ("# nothing\n", 2, "there is no document"),
            ("a: 1\nb: [SECRET", 3, "did not find expected ',' or ']'"),
            ("a: 1\nb: SECRET: x", 2, "mapping values are not allowed in this context"),
            ("SECRET: 1\nb: 1\nSECRET: 2", 3, "the key occurs twice"),
            ("a: 1\n---\nb: 2", 2, "there is more than one document"), ("a: *SECRET", 1, "an alias of nothing"),
            ("a: &a [*a]", 1, "an alias of nothing"), ("? [a]\n: b", 1, "a key is no scalar"),
            ("a: \"\u{1}\"", 1, "control characters are not allowed"),
        ])
    func faults(text: String, line: Int, problem: String) {
        #expect(fault(text)?.problem == problem)
        #expect(fault(text)?.line == line)
    }

    @Test("YAML with invalid UTF-8 is refused")
    func encoding() {
        #expect(throws: YAMLError.self) { try YAMLNode(parsing: Array("a: ".utf8) + [0xC3, 0x28]) }
    }

    @Test("YAML that is too deep or too long, also after its aliases are expanded, is refused")
    func bounds() throws {
        let nested = { (levels: Int) in
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(fault(nested(16)) == nil)
        #expect(fault(nested(17))?.problem == "more than 16 levels deep")
        #expect(fault(nested(100_000))?.problem == "more than 16 levels deep")
        #expect(fault("a: " + String(repeating: "x", count: 1 << 20))?.problem == "longer than 1 MiB")
        #expect(fault("[" + String(repeating: "x,", count: 10_000) + "]")?.problem == "more than 10000 nodes")
        let ten = { (name: String) in "[" + Array(repeating: "*\(name)", count: 10).joined(separator: ",") + "]" }
        let bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b \(ten("a"))\nc: &c \(ten("b"))\nd: &d \(ten("c"))\n"
        #expect(fault(bomb)?.description == "line 4: more than 10000 nodes")
    }
}
