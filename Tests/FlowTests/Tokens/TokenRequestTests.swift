import JSON
import TestSupport
import Testing

@Suite("Invalid requests to the token endpoint get a clear error and change nothing")
struct TokenRequestTests {
    private static let form = "application/x-www-form-urlencoded"

    @Test(
        "A token request with a repeated known parameter is refused; unknown parameters are ignored",
        arguments: Backend.available)
    func repeated(backend: Backend) async throws {
        try await World.with(backend) { world in
            let good = good(world)
            for again in [
                "grant_type=client_credentials", "client_id=\(world.backend.id)", "scope=email&scope=email",
                "scope=&scope=", "%67rant_type=password",
            ] {
                try await expect(400, "invalid_request", try await send(world, "\(good)&\(again)"), again)
            }
            #expect(try await send(world, "\(good)&colour=red&colour=blue&=&&").status == 200)
        }
    }

    @Test("A token request's parameter without a value counts as omitted", arguments: Backend.available)
    func empty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let good = good(world)
            let answer = try await send(world, "\(good)&scope=&code=&redirect_uri")
            #expect(answer.status == 200)
            #expect(answer.json["scope"]?.string == "profile email")
            try await expect(400, "invalid_request", try await send(world, good + "&grant_type="))
            let missing = try await world.token(["grant_type": "password", "username": ""], as: world.app)
            try await expect(400, "invalid_request", missing)
        }
    }

    @Test(
        "A token request with more than 1000 parameters is refused before they are decoded",
        arguments: Backend.available)
    func tooMany(backend: Backend) async throws {
        try await World.with(backend) { world in
            let good = good(world)
            let own = good.split(separator: "&").count
            func more(_ count: Int) -> String { String(repeating: "&a=%41", count: count) }
            #expect(try await send(world, good + more(1000 - own)).status == 200)
            try await expect(400, "invalid_request", try await send(world, good + more(1001 - own)))
            // Broken escapes among them are not decoded.
            let many = try await send(world, good + String(repeating: "&%", count: 30_000))
            #expect(many.status == 400 && many.json["error_description"]?.string?.contains("1000") == true)
            let members = (0...1000).map { JSON.Member("a\($0)", "b") }
            let json = try await world.server.send("POST", "/oauth/token", json: .object(members))
            #expect(json.status == 400 && json.json["error_description"]?.string?.contains("1000") == true)
        }
    }

    @Test(
        "A token request without a required parameter is refused, and the refusal names the parameter",
        arguments: Backend.available)
    func missing(backend: Backend) async throws {
        try await World.with(backend) { world in
            let cases: [(KeyValuePairs<String, String>, String)] = [
                ([:], "grant_type"), (["grant_type": "password"], "username"),
                (["grant_type": "password", "username": "a@b.example"], "password"),
                (["grant_type": "authorization_code"], "code"), (["grant_type": "refresh_token"], "refresh_token"),
                (["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer"], "assertion"),
            ]
            for (form, parameter) in cases {
                let answer = try await world.token(form, as: world.backend)
                try await expect(400, "invalid_request", answer, parameter)
                #expect(answer.json["error_description"]?.string?.contains("'\(parameter)'") == true)
            }
        }
    }

    @Test("A token request whose media type is neither form nor JSON is refused", arguments: Backend.available)
    func contentType(backend: Backend) async throws {
        try await World.with(backend) { world in
            let good = good(world)
            for type in [nil, "text/plain", "multipart/form-data; boundary=x", "application/xml", ""] {
                try await expect(400, "invalid_request", try await send(world, good, type: type), type ?? "none")
            }
            let charset = "Application/X-WWW-Form-Urlencoded; charset=UTF-8"
            #expect(try await send(world, good, type: charset).status == 200)
        }
    }

    @Test("A token request with a body of more than 64 KiB is refused", arguments: Backend.available)
    func size(backend: Backend) async throws {
        try await World.with(backend) { world in
            let good = good(world) + "&x="
            let full = good + String(repeating: "y", count: 65536 - good.utf8.count)
            #expect(try await send(world, full).status == 200)
            try await expect(413, "request_too_large", try await send(world, full + "y"))
        }
    }

    @Test("Invalid UTF-8 and broken escapes in a token request are refused", arguments: Backend.available)
    func encoding(backend: Backend) async throws {
        try await World.with(backend) { world in
            let good = good(world)
            for bad in ["&scope=%zz", "&scope=%2", "&scope=%", "&scope=%ff", "&scope=%C3%28", "&%ff=x", "&scope=%00"] {
                try await expect(400, "invalid_request", try await send(world, good + bad), bad)
            }
            let answer = try await world.server.send(
                "POST", "/oauth/token", body: Array(good.utf8) + [0x26, 0xFF, 0xFE],
                headers: ["Content-Type": Self.form])
            try await expect(400, "invalid_request", answer)
        }
    }

    @Test(
        "A token request with a grant type that is unknown, or that the client may not use, is refused",
        arguments: Backend.available)
    func grants(backend: Backend) async throws {
        try await World.with(backend) { world in
            for type in ["implicit", "Password", "password ", "urn:ietf:params:oauth:grant-type:device_code"] {
                try await expect(
                    400, "unsupported_grant_type", try await world.token(["grant_type": type], as: world.backend), type)
            }
            try await expect(
                400, "unauthorized_client", try await world.token(["grant_type": "client_credentials"], as: world.app))
        }
    }

    @Test(
        "A token request for a scope that is invalid, or that the client does not have, is refused",
        arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            for scope in ["admin", "profile phone", "Profile", "profile\temail", "\"", "é"] {
                let answer = try await world.token(
                    ["grant_type": "client_credentials", "scope": scope], as: world.backend)
                #expect(answer.status == 400, "\(scope)")
                #expect(["invalid_scope", "invalid_request"].contains(answer.error))
            }
        }
    }

    @Test(
        "A request to an unknown endpoint, or with an unsupported method, gets a 4xx answer with a body",
        arguments: Backend.available)
    func routes(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (method, path) in [
                ("GET", "/oauth/token"), ("PUT", "/oauth/token"), ("GET", "/oauth/exchange"), ("GET", "/nowhere"),
                ("POST", "/admin/v1/nothing"), ("GET", "/%ff"), ("GET", "/admin/v1/clients/%00"), ("GET", "/user/%00"),
            ] {
                let answer = try await world.server.send(method, path, bearer: world.admin)
                #expect((400..<500).contains(answer.status), "\(method) \(path)")
                #expect(!answer.body.isEmpty, "\(method) \(path)")
            }
        }
    }

    /// A valid request.
    private func good(_ world: World) -> String {
        "grant_type=client_credentials&client_id=\(world.backend.id)&client_secret=\(world.backend.secret)"
    }

    private func send(_ world: World, _ body: String, type: String? = form) async throws -> Answer {
        try await world.server.send(
            "POST", "/oauth/token", body: Array(body.utf8), headers: type.map { ["Content-Type": $0] } ?? [:])
    }
}

/// The error document of RFC 6749 §5.2: these two members, flat strings, in no cache.
func expect(
    _ status: Int, _ error: String, _ answer: Answer, _ what: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    #expect(answer.status == status, "\(what): \(answer)", sourceLocation: sourceLocation)
    #expect(answer.error == error, "\(what): \(answer)", sourceLocation: sourceLocation)
    let names = answer.json.members?.map(\.name)
    let isPlain = names == ["error", "error_description"]
    // The token endpoint adds SPiD's members where it cannot know which words the client understands.
    let isBoth = error == "invalid_client" && names == ["error", "error_code", "type", "error_description"]
    #expect(isPlain || isBoth, "\(answer)", sourceLocation: sourceLocation)
    let description = answer.json["error_description"]?.string ?? ""
    // RFC 6749 §5.2: %x20-21 / %x23-5B / %x5D-7E.
    #expect(
        !description.isEmpty && description.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C },
        "\(description)", sourceLocation: sourceLocation)
    #expect(answer.header("content-type") == "application/json", sourceLocation: sourceLocation)
    #expect(answer.header("cache-control") == "no-store", sourceLocation: sourceLocation)
}
