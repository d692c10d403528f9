import CommandLineTool
import Testing

@testable import Server

/// What the program says of itself.
@Suite struct HelpTests {
    private func end(_ arguments: [String]) -> CommandExit? {
        do {
            _ = try SpindleCommand.command(for: arguments)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "The options --help and -h and the command help explain a command in the same words, on the standard output",
        arguments: ExpectedHelp.all)
    func help(expected: ExpectedHelp) throws {
        for arguments in [expected.words + ["--help"], expected.words + ["-h"], ["help"] + expected.words] {
            let end = try #require(self.end(arguments))
            #expect(end.text == expected.text)
            #expect(end.status == 0)
        }
    }

    @Test("Every command that a group names has its help")
    func whole() {
        func commands(_ text: String) -> [String] {
            let lines = text.split(separator: "\n").drop { $0 != "SUBCOMMANDS:" }.dropFirst()
            return lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  See") }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
        }
        let named = ExpectedHelp.all.flatMap { help in
            commands(help.text).map { (help.words + [$0]).joined(separator: " ") }
        }
        #expect(Set(named) == Set(ExpectedHelp.all.map(\.command)).subtracting([""]))
        #expect(named.count == 32)
    }

    @Test("A group named alone prints its help", arguments: ["", "merchant", "client", "user", "key"])
    func group(command: String) throws {
        let expected = try #require(ExpectedHelp.all.first { $0.command == command })
        let end = try #require(self.end(expected.words))
        #expect(end.text == expected.text)
        #expect(end.status == 0)
    }

    @Test(
        "Help for an unknown command is that of the nearest command above it",
        arguments: [["serv"], ["merchant", "creat"]])
    func unknownHelp(words: [String]) throws {
        let above = words.dropLast().joined(separator: " ")
        #expect(end(["help"] + words)?.text == ExpectedHelp.all.first { $0.command == above }?.text)
        #expect(end(["help"] + words)?.status == 0)
    }

    @Test("Help takes precedence over other mistakes on the line, but not after two dashes")
    func priority() {
        #expect(end(["serve", "--lisen", "x", "--help"])?.status == 0)
        #expect(end(["backup", "--", "--help"]) == nil)
    }

    @Test(
        "The option --version prints the program's version, after any command",
        arguments: [[], ["serve"], ["user", "show"]])
    func version(words: [String]) {
        #expect(end(words + ["--version"])?.text == Spindle.version)
        #expect(end(words + ["--version"])?.status == 0)
    }
}
