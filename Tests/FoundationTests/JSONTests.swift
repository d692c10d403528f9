import Foundation
import JSON
import Testing

@Suite("JSON") struct JSONTests {
    private func read(_ text: String) throws -> JSON { try JSON(parsing: Array(text.utf8)) }

    @Test("A JSON value that is written reads back the same, with its members in order")
    func roundTrip() throws {
        let value = JSON.members([
            "z": "text", "a": .array([1, .number(1.5), true, .null]), "empty": .object([]), "gone": nil,
            "escapes": "\" \\ / \u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F} < \u{2028} é 😀",
        ])
        #expect(try read(value.text) == value)
        #expect(value.text.hasPrefix(#"{"z":"text","a":[1,1.5,true,null],"empty":{},"escapes":""#))
        #expect(!value.text.contains("gone"))
    }

    @Test("Characters that could end a line, a string or a script element are escaped in JSON")
    func escapes() {
        #expect(JSON.string("a\"b\\c\n</script>\u{2028}\u{1}").text == #""a\"b\\c\n\u003c/script>\u2028\u0001""#)
        #expect(JSON.number(.infinity).text == "null")
        #expect(JSON.integer(.min).text == "-9223372036854775808")
    }

    @Test("Every JSON escape is read")
    func unescapes() throws {
        #expect(try read(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00x""#) == "\"\\/\u{8}\u{C}\n\r\tAé€😀x")
        #expect(try read("\t[ 1 ,\r\n{ \"a\" : [ ] } ] ") == .array([1, .members(["a": .array([])])]))
    }

    @Test("JSON numbers keep their value")
    func numbers() throws {
        #expect(try read("[0,-0,7,-12]") == .array([0, 0, 7, -12]))
        #expect(try read("9223372036854775807").integer == .max)
        #expect(try read("9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(try read("1.0").integer == 1)
        #expect(try read("1e3").integer == 1000)
        #expect(try read("-1.5E-1") == .number(-0.15))
    }

    @Test("A repeated JSON member name is refused, however it is spelled")
    func repeated() throws {
        #expect(throws: JSONSyntaxError.repeatedName("a")) { try read(#"{"a":1,"b":2,"a":1}"#) }
        #expect(throws: JSONSyntaxError.repeatedName("a")) { try read(#"{"a":1,"\u0061":2}"#) }
        #expect(throws: JSONSyntaxError.repeatedName("b")) { try read(#"[{"x":{"b":1,"b":2}}]"#) }
        #expect(try read(#"{"a":{"a":1},"b":{"a":1}}"#)["b"]?["a"] == 1)
    }

    private static let malformed = [
        "", " ", "{", "}", "[", "]", "[1,]", "[,1]", "[1 2]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{'a':1}", "{1:1}",
        "nul",
        "True", "nullx", "1 2", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity", "1e999", "\"",
        "\"a",
        "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\n\"",
        "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"a\nb\"", "\"a\0b\"", "\u{FEFF}1", "// c\n1", "[1]]",
    ]

    @Test("Text that is not JSON is refused", arguments: malformed)
    func refusals(_ text: String) { #expect(throws: JSONSyntaxError.self) { try read(text) } }

    @Test("JSON that is not UTF-8 is refused, and so is UTF-16")
    func encodings() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] {
            #expect(throws: JSONSyntaxError.self) { try JSON(parsing: bytes) }
        }
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: [0x31, 0, 0x32, 0]) }
    }

    @Test("JSON nested more than 64 levels deep is refused before the stack is exhausted")
    func depth() throws {
        _ = try read(String(repeating: "[", count: 64) + String(repeating: "]", count: 64))
        #expect(throws: JSONSyntaxError.tooDeep) { try read(String(repeating: "[", count: 65)) }
        #expect(throws: JSONSyntaxError.tooDeep) { try read(String(repeating: "{\"a\":", count: 60_000)) }
    }

    @Test("Damaged JSON never crashes the parser, and Foundation reads whatever this parser accepts")
    func damage() throws {
        let seed = Array(#"{"a":[1,-2.5e3,"\u00e9\ud83d\ude00x",null,true],"b":{"c":"d\n"}}"#.utf8)
        for position in seed.indices {
            for byte in Array(0...127) as [UInt8] {
                var changed = seed
                changed[position] = byte
                guard (try? JSON(parsing: changed)) != nil else { continue }
                #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(changed)) }
            }
            #expect(throws: JSONSyntaxError.self) { try JSON(parsing: Array(seed.prefix(position))) }
        }
    }
}
