import Foundation
import JSON
import TestSupport
import Testing
import Values

/// Swift compares and hashes texts by canonical equivalence, and puts each run of combining marks in order for it: of
/// 32,000 that takes ten seconds.
@Suite("A long run of combining marks is refused before any text is compared") struct CombiningMarkTests {
    private static let run = "a" + String(repeating: "\u{300}\u{316}", count: 16)
    private static let reason = "more than 30 combining marks in a row"

    @Test("More than 30 combining marks in a row are refused in a form, query, path or JSON document")
    func bodies() async throws {
        try await World.with(.sqlite) { world in
            let server = world.server
            let run = Self.run
            for form in [["grant_type": "x", run: "y"], ["grant_type": "password", "username": run]] {
                let answer = try await server.post("/oauth/token", form: form.map { ($0.key, $0.value) })
                #expect(answer.status == 400 && answer.error == "invalid_request", "\(answer)")
                #expect(answer.json["error_description"]?.string?.contains(Self.reason) == true, "\(answer)")
            }
            let registration = try await world.initialToken()
            let documents: [(String, String, JSON)] = [
                ("/oauth/token", "", .object([.init(run, "y")])),
                ("/oauth/token", "", ["grant_type": "password", "username": .string(run)]),
                ("/oauth/register", registration, .object([.init(run, "y")])),
                ("/admin/v1/merchants", world.admin, ["name": .string(run)]),
                ("/admin/v1/users", world.admin, ["email": "b@example.com", "attributes": .object([.init(run, 1)])]),
            ]
            for (path, bearer, json) in documents {
                let answer = try await server.send("POST", path, json: json, bearer: bearer.isEmpty ? nil : bearer)
                #expect(answer.status == 400 && answer.body.contains(Self.reason), "\(path): \(answer)")
            }
            let query = run.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            for path in ["/oauth/authorize?\(query)=x", "/oauth/authorize?state=\(query)", "/logout?state=\(query)"] {
                let answer = try await server.get(path)
                #expect(answer.status == 400, "\(path): \(answer)")
            }
            let api = try await world.clientToken(try await world.spidBackend())
            let user = try await server.get("/api/2/user/\(query)", bearer: api)
            #expect(user.status == 400 && user.body.contains(Self.reason), "\(user)")
        }
    }

    @Test("More than 30 combining marks in a row are refused in Basic credentials")
    func basic() async throws {
        try await World.with(.sqlite) { world in
            for pair in [(Self.run, "x"), (world.backend.id, Self.run)] {
                let answer = try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials"], basic: pair)
                #expect(answer.status == 400 && answer.body.contains(Self.reason), "\(answer)")
            }
        }
    }

    @Test(
        "More than 30 combining marks in a row are refused in any header, also one that is not read",
        arguments: ["Accept-Language", "Cookie", "Authorization", "Origin", "Accept", "User-Agent", "X-Unknown"])
    func headers(_ name: String) async throws {
        try await World.with(.sqlite) { world in
            for path in ["/login", "/me", "/.well-known/openid-configuration", "/nothing"] {
                let answer = try await world.server.send("GET", path, body: [], headers: [name: "a=" + Self.run])
                #expect(answer.status == 400 && answer.body.contains(Self.reason), "\(path): \(answer)")
                let honest = try await world.server.send("GET", path, body: [], headers: [name: "Nguye\u{302}\u{303}n"])
                #expect(!honest.body.contains(Self.reason), "\(path): \(honest)")
            }
        }
    }
}
