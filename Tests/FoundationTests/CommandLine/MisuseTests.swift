import CommandLineTool
import Testing

@testable import Server

/// What a mistake on the command line is answered with: one line that says what, one that says how, and status 64.
@Suite struct MisuseTests {
    private func end(_ line: String) -> CommandExit? {
        do {
            _ = try SpindleCommand.command(for: line.split(separator: " ").map(String.init))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "A mistake on the command line is named, with the usage of the command it belongs to",
        arguments: [
            ("srve", "Unexpected argument 'srve'", "", "spindle", " <subcommand>"),
            ("merchant creat", "Unexpected argument 'creat'", "", "spindle merchant", " <subcommand>"),
            ("serve extra", "Unexpected argument 'extra'", "", "spindle serve", " <options>"),
            ("serve a b", "2 unexpected arguments: 'a', 'b'", "", "spindle serve", " <options>"),
            (
                "serve --lisen x", "Unknown option '--lisen'. Did you mean '--listen'?", "", "spindle serve",
                " <options>"
            ),
            ("init --jsn", "Unknown option '--jsn'. Did you mean '--json'?", "", "spindle init", " <options>"),
            ("key rotate --nope", "Unknown option '--nope'", "", "spindle key rotate", " <options>"),
            // The id of a key may begin so, and is no option.
            (
                "serve -QCVTATcZ5mgWnjG9z7IHjjkACBmshMvL3DYzdKpduQ",
                "Unexpected argument '-QCVTATcZ5mgWnjG9z7IHjjkACBmshMvL3DYzdKpduQ'", "", "spindle serve", " <options>"
            ),
            ("serve -x", "Unknown option '-x'", "", "spindle serve", " <options>"),
            (
                "serve --listen", "Missing value for '--listen <host:port>'",
                "Help:  --listen <host:port>  Listen at HOST:PORT.\n", "spindle serve", " <options>"
            ),
            (
                "serve --listen --migrate", "Missing value for '--listen <host:port>'",
                "Help:  --listen <host:port>  Listen at HOST:PORT.\n", "spindle serve", " <options>"
            ),
            (
                "user show", "Missing expected argument '<user>'",
                "Help:  <user>  The user's e-mail address or number.\n", "spindle user show", " [<options>] <user>"
            ),
            (
                "backup", "Missing expected argument '<file>'",
                "Help:  <file>  Where the copy goes; the file must not exist.\n", "spindle backup",
                " [<options>] <file>"
            ),
            (
                "key reseal", "Missing expected argument '--new-key-file <new-key-file>'",
                "Help:  --new-key-file <new-key-file>  The file of the new master key; made if it is not there.\n",
                "spindle key reseal", " [<options>] --new-key-file <new-key-file>"
            ),
            (
                "user list --count few", "The value 'few' is invalid for '--count <number>'",
                "Help:  --count <number>  How many to print at most, 1 to 1000.\n", "spindle user list", " <options>"
            ),
            ("user list --count 0", "--count must be from 1 to 1000", "", "spindle user list", " <options>"),
            (
                "serve --dev-redirect-uri x", "--dev-redirect-uri is for --dev", "", "spindle serve", " <options>"
            ),
            (
                "serve --dev=yes", "The option '--dev' does not take any value, but 'yes' was specified.", "",
                "spindle serve", " <options>"
            ),
            (
                "user change 1 --disabled --no-disabled",
                "Value to be set with flag '--no-disabled' had already been set with flag '--disabled'", "",
                "spindle user change", " [<options>] <user>"
            ),
        ])
    func misuse(line: String, message: String, help: String, command: String, usage: String) throws {
        let end = try #require(self.end(line))
        #expect(
            end.text == """
                Error: \(message)
                \(help)Usage: \(command)\(usage)
                  See '\(command) --help' for more information.
                """)
        #expect(end.status == 64)
    }
}
