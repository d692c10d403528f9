import Cryptography
import Foundation
import JSON
import TestSupport
import Testing

@testable import Directory
@testable import Authentication

@Suite("Passwords that may be set") struct PasswordTests {
    /// The fault of `text`; nil if it may be set.
    static func fault(_ text: String, _ personal: [String] = []) -> PasswordFault? {
        do {
            _ = try Password(text, personal: personal)
            return nil
        } catch { return error }
    }

    @Test("A password has 8 to 128 characters, counted as a reader sees them, of any kind")
    func lengths() {
        let letters = "Ærlig talt, ei vevkjerring "
        #expect(Self.fault("") == .tooShort)
        #expect(Self.fault("qz7.kwp") == .tooShort)
        #expect(Self.fault("qz7.kwpv") == nil)
        #expect(Self.fault(String(String(repeating: letters, count: 5).prefix(128))) == nil)
        #expect(Self.fault(String(String(repeating: letters, count: 5).prefix(129))) == .tooLong)
        // The family emoji is one character of 25 bytes.
        let family = "👨‍👩‍👧‍👦"
        #expect(Self.fault("🧶🪡🧵🪢🧥🧦🧤") == .tooShort)
        #expect(Self.fault("🧶🪡🧵🪢🧥🧦🧤🧣") == nil)
        #expect(Self.fault(String(repeating: family + "🧶", count: 64)) == nil)
        #expect(Self.fault(String(repeating: family + "🧶", count: 64) + "x") == .tooLong)
        #expect(Self.fault("пароль для всех") == nil)
        #expect(Self.fault("كلمة سر طويلة") == nil)
        #expect(Self.fault("pass\u{301}word\u{300}s  ") == nil)
    }

    @Test("A letter with an accent counts as one character of a password, in one code point or two")
    func composition() {
        #expect(Self.fault("éèêëçàù") == .tooShort)
        #expect(Self.fault("éèêëçàù".decomposedStringWithCanonicalMapping) == .tooShort)
        #expect(Self.fault("éèêëçàùî") == nil)
        #expect(Self.fault("éèêëçàùî".decomposedStringWithCanonicalMapping) == nil)
        // An endless character must not be a way to send a megabyte.
        #expect(Self.fault("abcdefg" + "h" + String(repeating: "\u{301}", count: 5000)) == .tooLong)
        let listed = "lösenord1"
        #expect(Self.fault(listed) == .common)
        #expect(Self.fault(listed.decomposedStringWithCanonicalMapping) == .common)
    }

    @Test("A password need not mix letters, digits and marks")
    func noComposition() {
        for text in ["correct horse battery", "mjukvirvel", "8302746195038", "KNITTWISE", "::::;;;;::", "a quiet loom"]
        {
            #expect(Self.fault(text) == nil, "\(text)")
        }
    }

    @Test(
        "Commonly guessed passwords are refused in any letter case, also with a few digits or marks appended",
        arguments: [
            "password", "PASSWORD", "PassWord", "password1", "Password123!", "password2024", "P@ssw0rd", "p@ssw0rd99",
            "iloveyou", "iloveyou1", "ILoveYou!!", "qwertyuiop", "1q2w3e4r", "1qaz2wsx", "trustno1", "monkey12",
            "dragon1988", "Football7", "Liverpool05", "arsenal2004", "sunshine", "princess!", "michael1", "Ashley1990",
            "passord1", "Passord123", "sommer2024", "Vinter2023!", "rosenborg", "Vålerenga1", "kjærlighet", "lösenord1",
            "Sommar2024", "djurgården", "hammarby1", "passwort", "Passwort1", "schalke04", "geheim123", "sonnenschein",
            "123456789", "1234567890", "147258369", "11223344", "12341234", "abc12345", "a1b2c3d4", "asdfghjkl",
            "correcthorsebatterystaple", "letmein123", "changeme", "Welcome1", "admin123",
        ])
    func common(_ text: String) {
        #expect(Self.fault(text) == .common)
        #expect(Self.fault(text.uppercased()) == .common)
    }

    @Test("A password of one repeated character, or of consecutive ones, is refused, however long")
    func runs() {
        for text in [
            "aaaaaaaa", "AaAaAaAa", "        ", "........", "🧶🧶🧶🧶🧶🧶🧶🧶", "éééééééééé", "00000000000000", "abcdefgh",
            "ZYXWVUTS", "23456789", "34567890123", "98765432", "3210987654", "αβγδεζηθ",
            String(repeating: "x", count: 128),
        ] {
            #expect(Self.fault(text) == .common, "\(text)")
        }
        #expect(Self.fault("abcdefhi") == nil)
    }

    @Test("A password may contain a common word if other words, or many digits in no sequence, are added")
    func near() {
        for text in [
            "password of the loom", "my password1", "dragon fruit", "monkeywrench", "monkey83059274", "qwertz und zwei",
            "2024summer rain", "iloveyouandyourloom",
        ] {
            #expect(Self.fault(text) == nil, "\(text)")
        }
        #expect(Self.fault("monkey12345678") == .common)
    }

    @Test("A user's e-mail address, its local part, the user's and the service's name are refused as passwords")
    func personal() {
        let person = ["Kari.Holtenbakk@example.com", "Kari Holtenbakk", "Renfield-Hatch", "Loom & Sons"]
        for text in [
            "kari.holtenbakk@example.com", "KARI.HOLTENBAKK@EXAMPLE.COM", "kari.holtenbakk", "kariholtenbakk",
            "Kari Holtenbakk",
            "Holtenbakk", "holtenbakk1979", "kari.holtenbakk!", "kari1234567", "renfieldhatch", "Renfield Hatch 7",
            "loom & sons",
            "loomsons2024", "Loom2024!",
        ] {
            #expect(Self.fault(text, person) == .personal, "\(text)")
        }
        for text in ["holtenbakk weaves", "the Kari Holtenbakk", "kari and a horse", "loom of my own"] {
            #expect(Self.fault(text, person) == nil, "\(text)")
        }
        #expect(Self.fault("holtenbakk") == nil)
        // Names of up to three letters are not searched for: Bo's password may contain "bo".
        #expect(Self.fault("bo 830274", ["Bo Ek", "bo@x.example"]) == nil)
        #expect(Self.fault("kari.holtenbakk", ["", "@", " ", "@@"]) == nil)
    }

    @Test("A password set by administration must follow the rules, and a refusal names the broken one")
    func administration() throws {
        for (text, expected) in [
            ("short", "8 to 128 characters"), (String(repeating: "y ", count: 65), "8 to 128 characters"),
            ("password1", "no common password"),
            ("a\0quiet loom", "8 to 128 characters, none of them NUL"),
        ] {
            #expect(throws: JSONFault("password", expected)) { try Password(text) }
        }
        _ = try Password("correct horse battery")
        #expect(throws: JSONFault.self) { try UserChanges(["email": "a@example.com", "password": "Passord1"]) }
    }

    @Test("The list of common passwords is lower case, sorted, unique, and holds only otherwise valid passwords")
    func list() {
        let lines = PackageResources.common_passwords_txt.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count >= 2500)
        for (line, next) in zip(lines, lines.dropFirst()) {
            #expect(line.lexicographicallyPrecedes(next), "\(String(decoding: next, as: UTF8.self))")
        }
        for line in lines {
            let text = String(decoding: line, as: UTF8.self)
            #expect(text == text.lowercased() && text.count >= 8, "\(text)")
            #expect(Array(text.precomposedStringWithCanonicalMapping.utf8) == Array(line), "\(text)")
            #expect(Self.fault(text) == .common)
        }
    }
}
