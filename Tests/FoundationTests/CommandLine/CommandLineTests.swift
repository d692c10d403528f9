import CommandLineTool
import Directory
import JSON
import TestSupport
import Testing

@testable import Server

/// How the words of a command line are read.
@Suite struct CommandLineTests {
    private func command<Wanted>(_ arguments: String..., as type: Wanted.Type = Wanted.self) throws -> Wanted {
        try #require(try SpindleCommand.command(for: arguments) as? Wanted)
    }

    @Test("A command line option's value is the next word or follows an equals sign; the last value counts")
    func values() throws {
        let command: InitCommand = try command(
            "init", "--listen", "a:1", "--database=x=y", "--listen=b:2", "--json", "--basic-realm=", "--issuer", "-")
        #expect(command.json)
        #expect(command.options.listen == "b:2")
        #expect(command.options.database == "x=y")
        #expect(command.options.basicRealm == "")
        #expect(command.options.issuer == "-")
        #expect(command.options.config == nil)
    }

    @Test("A repeatable command line option keeps all its values, in order")
    func repeated() throws {
        let command: ClientCommand.Create = try command(
            "client", "create", "--redirect-uri", "a", "--scope", "s", "--redirect-uri=b")
        #expect(command.members.redirectURIs == ["a", "b"])
        #expect(command.members.scope == "s")
        #expect(command.members.grantTypes.isEmpty)
        #expect(command.merchant == nil)
    }

    @Test("The option --set takes any setting of a client, as text, list, flag, number or JSON")
    func anySetting() throws {
        let command: ClientCommand.Change = try command(
            "client", "change", "abc", "--set", "logo_uri=https://a.example/?x=y", "--set=id_token_lifetime=600",
            "--set", "resources=https://a.example", "--set", "resources=https://b.example", "--set",
            "require_issuer_audience=true", "--set", #"id_token_claims={"groups":"groups"}"#, "--set", "tos_uri=",
            "--set", "request_uris=", "--set", "refresh_family_lifetime=while_used", "--name", "x")
        #expect(
            try command.members.json() == [
                "client_name": "x", "logo_uri": "https://a.example/?x=y", "id_token_lifetime": 600,
                "resources": ["https://a.example", "https://b.example"], "require_issuer_audience": true,
                "id_token_claims": ["groups": "groups"], "tos_uri": .null, "request_uris": [],
                "refresh_family_lifetime": "while_used",
            ])
        for (set, told) in [
            ("redirect_uri=x", "a client has no setting redirect_uri: did you mean redirect_uris?"),
            ("no=x", "a client has no setting no"), ("client_name", "--set client_name: must be member=value"),
            ("client_name=y", "--set client_name: there is another option for it beside"),
        ] {
            let command: ClientCommand.Change = try self.command(
                "client", "change", "abc", "--name", "x", "--set", set)
            let failure = #expect(throws: CommandFailure.self) { try command.members.json() }
            #expect(failure?.message == told && failure?.status == .usage)
        }
    }

    @Test("A command's refusal of a value names the option that sets it")
    func ownWords() {
        let cases = [
            ("merchant_id", "--merchant"), ("client_name", "--name"), ("redirect_uris", "--redirect-uri"),
            ("grant_types", "--grant-type"), ("access_token_lifetime", "--access-token-lifetime"),
            ("token_endpoint_auth_method", "--token-endpoint-auth-method"), ("tos_uri", "--tos-uri"),
            ("post_logout_redirect_uris", "--post-logout-redirect-uri"), ("first_party", "--first-party"),
        ]
        for (member, option) in cases { #expect(ClientCommand.Create.option(setting: member) == option) }
        #expect(ClientCommand.Create.option(setting: "id_token_claims") == nil)
        #expect(UserCommand.Create.option(setting: "password") == "--password-stdin")
        #expect(MerchantCommand.Change.option(setting: "mail_templates") == "--mail-templates")
    }

    @Test("A command line flag with an opposite is yes, no or unset")
    func opposites() throws {
        let command: ClientCommand.Change = try command(
            "client", "change", "--first-party", "abc", "--no-spid-compatible", "--access-token-lifetime", "60")
        #expect(command.id == "abc")
        #expect(command.members.firstParty == true)
        #expect(command.members.spidCompatible == false)
        #expect(command.disabled == nil)
        #expect(command.members.accessTokenLifetime == 60)
    }

    @Test("Command line arguments are identified by position; after two dashes they may look like options")
    func places() throws {
        let both: ClientCommand.EndSecret = try command("client", "end-secret", "--json", "id", "--", "--secret")
        #expect(both.id == "id" && both.secret == "--secret" && both.output.json)
        let one: ClientCommand.EndSecret = try command("client", "end-secret", "id")
        #expect(one.secret == nil)
        let input: UserCommand.Import = try command("user", "import", "-", "--dry-run")
        #expect(input.file == "-" && input.dryRun)
    }

    @Test("The option --count of the command user list is 100 by default")
    func numbers() throws {
        let usual: UserCommand.List = try command("user", "list")
        #expect(usual.page.count == 100)
        let few: UserCommand.List = try command("user", "list", "--count", "7", "--after=12")
        #expect(few.page.count == 7 && few.page.after == "12")
    }

    @Test("Two parsed command lines do not mix their options' values")
    func apart() throws {
        let first: InitCommand = try command("init", "--listen", "a:1")
        let second: InitCommand = try command("init", "--listen", "b:2")
        #expect(first.options.listen == "a:1")
        #expect(second.options.listen == "b:2")
    }

    private func end(_ arguments: [String]) -> CommandExit? {
        do {
            _ = try SpindleCommand.command(for: arguments)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "The options --help and -h and the command help print the same text for a command",
        arguments: ExpectedHelp.all)
    func help(expected: ExpectedHelp) throws {
        for arguments in [expected.words + ["--help"], expected.words + ["-h"], ["help"] + expected.words] {
            let end = try #require(self.end(arguments))
            #expect(end.text == expected.text)
            #expect(end.status == 0)
        }
    }

    @Test("Every command that a group's help lists has a help text of its own")
    func whole() {
        func commands(_ text: String) -> [String] {
            let lines = text.split(separator: "\n").drop { $0 != "SUBCOMMANDS:" }.dropFirst()
                .prefix { $0 != "TOPICS:" }
            return lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  See") }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
        }
        let named = ExpectedHelp.all.flatMap { help in
            commands(help.text).map { (help.words + [$0]).joined(separator: " ") }
        }
        #expect(Set(named) == Set(ExpectedHelp.all.map(\.command)).subtracting([""]))
        #expect(named.count == 36)
    }

    @Test("A command group without a subcommand prints its help", arguments: ["", "merchant", "client", "user", "key"])
    func group(command: String) throws {
        let expected = try #require(ExpectedHelp.all.first { $0.command == command })
        let end = try #require(self.end(expected.words))
        #expect(end.text == expected.text)
        #expect(end.status == 0)
    }

    @Test("The help of a command has at most 45 lines", arguments: ExpectedHelp.all)
    func short(expected: ExpectedHelp) {
        #expect(expected.text.count { $0 == "\n" } < 45)
    }

    @Test("The command help suggests the nearest command or topic for an unknown one")
    func unknownHelp() throws {
        for (words, told) in [
            (["serv"], "There is no command 'serv'. Did you mean 'serve'?"),
            (["merchant", "creat"], "There is no command 'merchant creat'. Did you mean 'create'?"),
            (["setings"], "There is no command 'setings'. Did you mean 'settings'?"),
            (["nothing"], "There is no command 'nothing'\n"),
        ] {
            let end = try #require(self.end(["help"] + words))
            #expect(end.text.hasPrefix("Error: \(told)"), "\(end.text)")
            #expect(end.status == 64)
        }
    }

    @Test("The topic settings of the command help lists the options for every setting of the server")
    func settings() throws {
        let end = try #require(self.end(["help", "settings"]))
        #expect(end.status == 0)
        for name in ConfigurationOptions.optionNames { #expect(end.text.contains("  \(name) <"), "\(name)") }
    }

    @Test("The topic client-settings of the command help lists every member that administration may set for a client")
    func clientSettings() throws {
        let text = try #require(self.end(["help", "client-settings"])).text
        let listed = text.split(separator: "\n").dropFirst(2).compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
        #expect(listed == Client.settings.map(\.name))
        #expect(Set(listed).count == listed.count && listed.contains("id_token_claims"))
    }

    @Test("The option --help takes precedence over mistakes on the command line, but not after two dashes")
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

    private func endOfLine(_ line: String) -> CommandExit? {
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
            ("srve", "There is no command 'srve'. Did you mean 'serve'?", "", "spindle", " <subcommand>"),
            ("serv --dev", "There is no command 'serv'. Did you mean 'serve'?", "", "spindle", " <subcommand>"),
            (
                "merchant creat", "There is no command 'merchant creat'. Did you mean 'create'?", "",
                "spindle merchant", " <subcommand>"
            ),
            ("serve extra", "Unexpected argument 'extra'", "", "spindle serve", " <options>"),
            ("serve a b", "2 unexpected arguments: 'a', 'b'", "", "spindle serve", " <options>"),
            (
                "serve --lisen x", "Unknown option '--lisen'. Did you mean '--listen'?", "", "spindle serve",
                " <options>"
            ),
            ("init --jsn", "Unknown option '--jsn'. Did you mean '--json'?", "", "spindle init", " <options>"),
            ("key rotate --nope", "Unknown option '--nope'", "", "spindle key rotate", " <options>"),
            // A key's id may begin like this, and is no option.
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
                "Help:  --new-key-file <new-key-file>  The file of the new master key; created if missing.\n",
                "spindle key reseal", " [<options>] --new-key-file <new-key-file>"
            ),
            (
                "user list --count few", "The value 'few' is invalid for '--count <number>'",
                "Help:  --count <number>  How many to print at most, 1 to 1000.\n", "spindle user list", " <options>"
            ),
            ("user list --count 0", "--count must be from 1 to 1000", "", "spindle user list", " <options>"),
            (
                "serve --dev-redirect-uri x", "--dev-redirect-uri requires --dev", "", "spindle serve", " <options>"
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
        let end = try #require(self.endOfLine(line))
        #expect(
            end.text == """
                Error: \(message)
                \(help)Usage: \(command)\(usage)
                  See '\(command) --help' for more information.
                """)
        #expect(end.status == 64)
    }
}
