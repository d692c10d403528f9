import JSON
import TestSupport
import Testing

@Suite("A webhook's template is filled with the user's subject and attributes")
struct DittoTemplateTests {
    private static func template(_ queries: JSON) -> JSON {
        [
            "read": ["everything": false, "queriesByCollection": ["cars": queries]],
            "write": ["everything": false, "queriesByCollection": [:]],
        ]
    }

    private func read(_ answer: Answer) -> [String]? {
        answer.json["permissions"]?["read"]?["queriesByCollection"]?["cars"]?.strings
    }

    @Test(
        "A webhook's template is filled with the user's subject and attributes, one query per text of a list",
        arguments: Backend.available)
    func filled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let queries: JSON = [
                "true", #"_id.o == "{{sub}}""#, "_id.team == '{{attributes.teams}}'",
                "_id.o == '{{sub}}' && _id.city == '{{attributes.city}}' || _id.x == '{{attributes.city}}-{{sub}}'",
                "_id.none == '{{attributes.missing}}'", "_id.brace == '}}'",
            ]
            let ditto = try await DittoStory(world, ["permissions": Self.template(queries)])
            let token = try await ditto.token()
            let id = world.user
            #expect(read(try await ditto.ask(token)) == ["true", "_id.o == \"\(id)\"", "_id.brace == '}}'"])
            try await ditto.describe(["teams": ["red", "blå"], "city": "Oslo"])
            let answer = try await ditto.ask(token)
            expectAdmitted(answer, as: id)
            #expect(
                read(answer) == [
                    "true", "_id.o == \"\(id)\"", "_id.team == 'red'", "_id.team == 'blå'",
                    "_id.o == '\(id)' && _id.city == 'Oslo' || _id.x == 'Oslo-\(id)'", "_id.brace == '}}'",
                ])
            try await ditto.describe(["teams": [], "city": .null])
            #expect(read(try await ditto.ask(token))?.count == 3)
        }
    }

    @Test(
        "A webhook's template is filled with the user's attributes for an ID token as well",
        arguments: Backend.available)
    func idToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world,
                [
                    "permissions": Self.template(["_id.team == '{{attributes.teams}}'"]), "token_kinds": ["id_token"],
                    "clients": [.string(world.app.id)],
                ])
            try await ditto.describe(["teams": "red"])
            let token = try await world.signIn(scope: "openid").require("id_token")
            #expect(read(try await ditto.ask(token)) == ["_id.team == 'red'"])
        }
    }

    @Test(
        "A webhook's template is filled with no attributes if the token is a third party's client's",
        arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let third = try await world.confidential(["first_party": false, "scope": "openid profile"])
            let ditto = try await DittoStory(
                world,
                [
                    "permissions": Self.template(["true", "_id.team == '{{attributes.teams}}'"]),
                    "token_kinds": ["access_token", "id_token"], "clients": [.string(third.id)],
                ])
            try await ditto.describe(["teams": "red"])
            for (isOurs, queries) in [(false, ["true"]), (true, ["true", "_id.team == 'red'"])] {
                try await world.change("clients", third.id, ["first_party": .bool(isOurs)])
                let signedIn = try await world.signIn(scope: "openid", with: third)
                for token in [try signedIn.require("access_token"), try signedIn.require("id_token")] {
                    let admitted = try await ditto.ask(token)
                    expectAdmitted(admitted, as: world.user)
                    #expect(read(admitted) == queries, "\(isOurs)")
                }
            }
        }
    }

    @Test(
        "A query is left out of the answer to Ditto if a value in it could end the quotation",
        arguments: Backend.available)
    func hostile(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["permissions": Self.template(["_id.team == '{{attributes.teams}}'"])])
            let token = try await ditto.token()
            let hostile = [
                "' || true || '", "x' || _id.team != '", #"" || true || ""#, #"\' || true || \'"#, #"x\"#, "`", "''",
                "", "a\u{85}b", "a\u{2028}b",
            ]
            for text in hostile {
                try await ditto.describe(["teams": .string(text)])
                #expect(read(try await ditto.ask(token)) == [], "\(text)")
            }
            // Text that looks like syntax is text, and no value is filled in again.
            let harmless = [
                "true", "} }", #"],"everything":true"#.replacing("\"", with: ""), "{{sub}}", "{{attributes.other}}",
                "$args.x", "a\u{2019}b", "&& || == ( )", "/* -- //",
            ]
            for text in harmless {
                try await ditto.describe(["teams": .string(text), "other": "secret"])
                #expect(read(try await ditto.ask(token)) == ["_id.team == '\(text)'"])
            }
            try await ditto.describe(["teams": ["red", "' || true || '", "blue"]])
            #expect(read(try await ditto.ask(token)) == ["_id.team == 'red'", "_id.team == 'blue'"])
        }
    }

    @Test(
        "Ditto's request is refused if the answer's queries would take megabytes; a thousand short ones fit",
        arguments: Backend.available)
    func tooLong(backend: Backend) async throws {
        try await World.with(backend) { world in
            let blanks = String(repeating: "{{attributes.teams}}", count: 20)
            let queries = [JSON](repeating: .string("_id.t == '\(blanks)'"), count: 10)
            let ditto = try await DittoStory(world, ["permissions": Self.template(.array(queries))])
            let token = try await ditto.token()
            let short = [JSON](repeating: .string("red"), count: 100)
            try await ditto.describe(["teams": .array(short)])
            #expect(read(try await ditto.ask(token))?.count == 1000)
            let long = [JSON](repeating: .string(String(repeating: "r", count: 400)), count: 100)
            try await ditto.describe(["teams": .array(long)])
            expectRefused(try await ditto.ask(token), "access_denied")
        }
    }

    @Test(
        "A webhook is refused if its template has a malformed query, and the refusal names the place",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let queries = [
                "_id.o == {{sub}}", "{{sub}}", "_id.o == '' {{sub}} ''", "_id.o == '{{sub}}", "_id.o == '{{sub'",
                "_id.o == '{{ sub }}'", "_id.o == '{{name}}'", "_id.o == '{{}}'", "_id.o == '{{attributes.}}'",
                "_id.o == '{{attributes}}'", #"_id.o == '\'{{sub}}'"#, #"_id.o == "it's {{sub}}' "#,
                "_id.a == '{{attributes.a}}' || _id.b == '{{attributes.b}}'", "", "a\nb",
                String(repeating: "x", count: 501),
            ]
            for query in queries {
                let answer = try await DittoStory.make(world, ["permissions": Self.template([.string(query)])])
                expectProblem(answer, 400, member: "permissions.read.queriesByCollection.cars")
            }
            let many = JSON.array(Array(repeating: "_id.a == '{{attributes.a}}'", count: 21))
            expectProblem(
                try await DittoStory.make(world, ["permissions": Self.template(many)]), 400, member: "permissions")
        }
    }

    @Test(
        "A webhook is refused if its permissions differ in shape from those in an answer to Ditto",
        arguments: Backend.available)
    func shape(backend: Backend) async throws {
        try await World.with(backend) { world in
            let none: JSON = ["everything": false, "queriesByCollection": [:]]
            let names = (1...101).map { JSON.Member("c\($0)", ["true"]) }
            let wrong: [(JSON, String)] = [
                ("all", "permissions"), (["read"], "permissions"), (["read": none], "permissions.write"),
                (["write": none], "permissions.read"),
                (["read": none, "write": none, "delete": none], "permissions.delete"),
                (["read": none, "write": none, "remoteQuery": "yes"], "permissions.remoteQuery"),
                (["read": ["everything": false], "write": none], "permissions.read.queriesByCollection"),
                (["read": ["queriesByCollection": [:]], "write": none], "permissions.read.everything"),
                (
                    ["read": ["everything": "no", "queriesByCollection": [:]], "write": none],
                    "permissions.read.everything"
                ),
                (
                    ["read": none, "write": ["everything": false, "queriesByCollection": ["a": "true"]]],
                    "permissions.write.queriesByCollection.a"
                ),
                (
                    ["read": none, "write": ["everything": false, "queriesByCollection": ["a": ["true", 1]]]],
                    "permissions.write.queriesByCollection.a"
                ),
                (
                    ["read": ["everything": false, "queriesByCollection": ["": ["true"]]], "write": none],
                    "permissions.read.queriesByCollection"
                ),
                (
                    ["read": ["everything": false, "queriesByCollection": .object(names)], "write": none],
                    "permissions.read.queriesByCollection"
                ),
                (
                    ["read": ["everything": false, "queriesByCollection": [:], "x": 1], "write": none],
                    "permissions.read.x"
                ),
            ]
            for (permissions, member) in wrong {
                expectProblem(try await DittoStory.make(world, ["permissions": permissions]), 400, member: member)
            }
        }
    }
}
