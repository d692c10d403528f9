import CommandLineTool
import Testing

@testable import Server

/// What the words of a command line come to.
@Suite struct CommandLineTests {
    private func command<Wanted>(_ arguments: String..., as type: Wanted.Type = Wanted.self) throws -> Wanted {
        try #require(try SpindleCommand.command(for: arguments) as? Wanted)
    }

    @Test("An option's value is the next word or follows an equals sign; the last one counts")
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

    @Test("A repeatable option keeps all its values, in order")
    func repeated() throws {
        let command: ClientCommand.Create = try command(
            "client", "create", "--redirect-uri", "a", "--scope", "s", "--redirect-uri=b")
        #expect(command.members.redirectURIs == ["a", "b"])
        #expect(command.members.scope == "s")
        #expect(command.members.grantTypes.isEmpty)
        #expect(command.merchant == nil)
    }

    @Test("A flag with an opposite is yes, no or unset")
    func opposites() throws {
        let command: ClientCommand.Change = try command(
            "client", "change", "--first-party", "abc", "--no-spid-compatible", "--access-token-lifetime", "60")
        #expect(command.id == "abc")
        #expect(command.members.firstParty == true)
        #expect(command.members.spidCompatible == false)
        #expect(command.disabled == nil)
        #expect(command.members.accessTokenLifetime == 60)
    }

    @Test("Arguments are identified by position, and after two dashes they may look like options")
    func places() throws {
        let both: ClientCommand.EndSecret = try command("client", "end-secret", "--json", "id", "--", "--secret")
        #expect(both.id == "id" && both.secret == "--secret" && both.output.json)
        let one: ClientCommand.EndSecret = try command("client", "end-secret", "id")
        #expect(one.secret == nil)
        let input: UserCommand.Import = try command("user", "import", "-", "--dry-run")
        #expect(input.file == "-" && input.dryRun)
    }

    @Test("A numeric option has the default that the help states")
    func numbers() throws {
        let usual: UserCommand.List = try command("user", "list")
        #expect(usual.page.count == 100)
        let few: UserCommand.List = try command("user", "list", "--count", "7", "--after=12")
        #expect(few.page.count == 7 && few.page.after == "12")
    }

    @Test("Two commands parsed from two lines hold their own values")
    func apart() throws {
        let first: InitCommand = try command("init", "--listen", "a:1")
        let second: InitCommand = try command("init", "--listen", "b:2")
        #expect(first.options.listen == "a:1")
        #expect(second.options.listen == "b:2")
    }
}
