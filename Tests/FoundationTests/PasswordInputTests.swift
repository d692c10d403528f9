import Testing

@testable import Server

/// The password that a command reads from standard input.
@Suite struct PasswordInputTests {
    @Test(
        "The password on the standard input is the first line, without its line end",
        arguments: [
            ("a quiet loom\nmore", "a quiet loom"), ("a\r\n", "a"), ("a\r", "a\r"), ("a", "a"), ("\n", ""),
            ("blåbær\n", "blåbær"),
        ])
    func line(_ input: String, _ password: String) throws {
        #expect(try UserMembers.password(in: Array(input.utf8)) == password)
    }

    @Test(
        "A password on the standard input that is not UTF-8 is refused",
        arguments: [[0x61, 0xE5, 0x0A], [0xFF]] as [[UInt8]])
    func bytes(_ input: [UInt8]) {
        let failure = #expect(throws: CommandFailure.self) { try UserMembers.password(in: input) }
        #expect(failure?.status == .data)
        #expect(failure?.message == "the password on standard input is not UTF-8")
    }

    @Test("An empty standard input is refused as a password")
    func nothing() {
        let failure = #expect(throws: CommandFailure.self) { try UserMembers.password(in: []) }
        #expect(failure?.status == .data)
    }
}
