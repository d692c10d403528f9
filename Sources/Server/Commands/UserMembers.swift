import CommandLineTool
import Glibc
import JSON
import System

/// The members of a user on the command line, in the names of OpenID Connect.
struct UserMembers: CommandArguments {
    @Option(help: "The e-mail address, which is the user name.") var email: String?
    @Flag(deniable: "Whether the address is verified.") var emailVerified: Bool?
    @Flag(
        help: "Read the password, 8 to 128 characters, from the first line of the standard input.", sets: "password")
    var passwordStdin = false
    @Option(help: "The full name.") var name: String?
    @Option(help: "The given name.") var givenName: String?
    @Option(help: "The family name.") var familyName: String?
    @Option(help: "The name to address them by.") var preferredUsername: String?
    @Option(help: "The telephone number.") var phoneNumber: String?
    @Option(help: "The language, such as nb-NO.") var locale: String?

    @Option(
        help: "Attributes for the claims of clients: a JSON object of texts, lists of texts, or null.",
        valueName: "json")
    var attributes: String?

    /// The document, with the password read from standard input.
    func json() throws -> JSON {
        .members([
            "email": email.map { .string($0) },
            "email_verified": emailVerified.map { .bool($0) },
            "password": passwordStdin ? .string(try Self.passwordFromStandardInput()) : nil,
            "name": name.map { .string($0) },
            "given_name": givenName.map { .string($0) },
            "family_name": familyName.map { .string($0) },
            "preferred_username": preferredUsername.map { .string($0) },
            "phone_number": phoneNumber.map { .string($0) },
            "locale": locale.map { .string($0) },
            "attributes": try attributes.map(Self.attributes),
        ])
    }

    private static func attributes(_ text: String) throws -> JSON {
        guard let json = try? JSON(parsing: Array(text.utf8)) else {
            throw CommandFailure("--attributes: must be JSON", .usage)
        }
        return json
    }

    private static func passwordFromStandardInput() throws -> String {
        var input: [UInt8] = []
        while !input.contains(lineEnd), let piece = Files.read(from: STDIN_FILENO, atMost: 4096), !piece.isEmpty {
            input += piece
        }
        return try password(in: input)
    }

    private static let lineEnd = UInt8(ascii: "\n")

    /// The first line of `input`. Refuses bytes that are not UTF-8: all of them would become the same replacement
    /// character.
    static func password(in input: [UInt8]) throws -> String {
        guard !input.isEmpty else { throw CommandFailure("there is no password on standard input", .data) }
        var line = input.prefix { $0 != lineEnd }
        if line.count < input.count, line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let password = String(validating: line, as: UTF8.self) else {
            throw CommandFailure("the password on standard input is not UTF-8", .data)
        }
        return password
    }
}
