import Mustache
import Testing

@Suite("Templates") struct MustacheTests {
    private struct Page {
        let name = "Kari"
        let nothing: String? = nil
        let something: String? = "s"
        let items = ["a", "b"]
    }

    private func render(
        _ text: String, _ values: [String: Any] = [:], escaping: MustacheTemplate.Escaping = .html
    ) throws -> String {
        try MustacheTemplate(parsing: text).render(values, escaping: escaping)
    }

    @Test("A template's value is escaped unless the template asks for it unescaped")
    func escaping() throws {
        let values = ["a": "<i>&\"'\u{301}"]
        #expect(
            try render("{{a}} {{ a }}", values) == "&lt;i&gt;&amp;&quot;&#39;\u{301} &lt;i&gt;&amp;&quot;&#39;\u{301}")
        #expect(try render("{{{a}}}{{&a}}{{& a }}", values) == "<i>&\"'\u{301}<i>&\"'\u{301}<i>&\"'\u{301}")
        #expect(try render("{{a}}", values, escaping: .none) == "<i>&\"'\u{301}")
    }

    @Test("A template writes numbers and booleans as text, and nothing for a missing value")
    func values() throws {
        #expect(try render("{{n}} {{t}} [{{none}}] [{{none.at.all}}]", ["n": 7, "t": true]) == "7 true [] []")
    }

    @Test("A template's section is written per value or list item, not for false, nothing or an empty list")
    func sections() throws {
        let values: [String: Any] = [
            "yes": true, "no": false, "list": ["a", "b"], "empty": [String](), "text": "t", "blank": "", "zero": 0,
            "map": ["x": "y"], "maps": [["x": 1], ["x": 2]],
        ]
        for (name, written) in [
            "yes": ".", "no": "", "list": "..", "empty": "", "text": ".", "blank": ".", "zero": ".", "map": ".",
            "maps": "..", "none": "",
        ] {
            #expect(try render("{{#\(name)}}.{{/\(name)}}", values) == written, "\(name)")
            #expect(try render("{{^\(name)}}.{{/\(name)}}", values) == (written.isEmpty ? "." : ""), "\(name)")
        }
        #expect(
            try render("{{#list}}{{.}},{{/list}}{{#maps}}{{x}}{{/maps}}{{#text}}<{{.}}>{{/text}}", values)
                == "a,b,12<t>")
    }

    @Test("A template looks up a name's first part from the innermost value outwards, and the rest inside it")
    func lookup() throws {
        let values: [String: Any] = [
            "a": ["b": ["c": "abc"], "name": "inner"], "name": "outer", "other": "o", "b": ["d": "bd"],
        ]
        #expect(
            try render("{{a.b.c}} {{#a}}{{name}} {{other}} {{b.c}}{{/a}} {{name}}", values) == "abc inner o abc outer")
        // A value that was found does not give way to another that has the rest of the name.
        #expect(try render("{{#a}}[{{b.d}}]{{/a}}", values) == "[]")
        #expect(try render("{{#a}}{{.name}}[{{.other}}]{{/a}}", values) == "inner[]")
    }

    @Test("In a template a value's properties are its members; an outer value replaces a nil property")
    func properties() throws {
        let text = "{{#page}}{{name}} {{nothing}} {{something}} {{#items}}{{.}}{{/items}}{{/page}}"
        #expect(try render(text, ["page": Page(), "nothing": "outer"]) == "Kari outer s ab")
    }

    @Test("A template used as a value is rendered with the values around it, and self-reference is cut off")
    func templates() throws {
        let inner = try MustacheTemplate(parsing: "<b>{{name}}</b>")
        #expect(try render("{{#p}}{{text}}{{/p}}", ["text": inner, "p": ["name": "<"]]) == "<b>&lt;</b>")
        let own = try MustacheTemplate(parsing: ".{{text}}")
        #expect(try render("{{text}}", ["text": own]).count == 32)
    }

    @Test("A template's line with only a section tag or a comment is not written, whatever its line ending")
    func lines() throws {
        let values: [String: Any] = ["s": true, "v": "v"]
        #expect(try render("a\n{{#s}}\nb\n{{/s}}\nc\n", values) == "a\nb\nc\n")
        #expect(try render("a\r\n  {{#s}} \t\r\nb\r\n{{/s}}\r\n", values) == "a\r\nb\r\n")
        #expect(try render("{{#s}}\n{{^v}}\nx\n{{/v}}\n  b{{/s}}", values) == "  b")
        #expect(try render("a\n {{! what? {{ }}\nb{{!x}}c\n", values) == "a\nbc\n")
        #expect(try render("  {{#s}} b {{/s}}  \n", values) == "   b   \n")
        #expect(try render(" {{v}} \n", values) == " v \n")
        #expect(try render("{{#s}}{{/s}}\n", values) == "\n")
        #expect(try render("{{#s}}\nb\n {{/s}}", values) == "b\n")
    }

    @Test("Braces that are no template tag are text")
    func text() throws {
        #expect(try render("{ } }} {a} {{ v }} }", ["v": "æ"]) == "{ } }} {a} æ }")
        #expect(try render("") == "")
    }

    @Test(
        "A template with a fault is refused, with the place of the fault",
        arguments: [
            ("{{#a}}", .sectionNotClosed("a"), 1, 7), ("x\n{{^a}}{{/b}}", .sectionNotOpen("b"), 2, 7),
            ("{{/a}}", .sectionNotOpen("a"), 1, 1), ("{{#a}}{{#b}}{{/a}}{{/b}}", .sectionNotOpen("a"), 1, 13),
            ("æ\næ{{a", .malformedTag, 2, 5), ("{{}}", .malformedTag, 1, 3), ("{{a b}}", .malformedTag, 1, 5),
            ("{{a}", .malformedTag, 1, 4), ("{{{a}}", .malformedTag, 1, 5), ("{{! x", .malformedTag, 1, 4),
            ("{{æ}}", .malformedTag, 1, 3), ("{{upper(a)}}", .malformedTag, 1, 8), ("{{", .malformedTag, 1, 3),
            ("{{> a}}", .unsupportedTag, 1, 4), ("{{=<% %>=}}", .unsupportedTag, 1, 4),
            ("{{$a}}{{/a}}", .unsupportedTag, 1, 4), ("{{<a}}{{/a}}", .unsupportedTag, 1, 4),
            ("{{%TEXT}}", .unsupportedTag, 1, 4),
        ] as [(String, MustacheFault.Problem, Int, Int)])
    func faults(text: String, problem: MustacheFault.Problem, line: Int, column: Int) throws {
        let fault = try #require(throws: MustacheFault.self) { try MustacheTemplate(parsing: text) }
        #expect(fault.problem == problem)
        #expect(fault.line == line && fault.column == column, "\(fault)")
    }
}
