import HTTPSupport
import JSON
import TestSupport
import Testing

@Suite("A SPiD-compatible client may send a form in parts")
struct MultipartTests {
    private static let boundary = "------------------------d74496d66958873e"

    private func body(_ form: [(String, String)]) -> String {
        form.map { "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\($0.0)\"\r\n\r\n\($0.1)\r\n" }
            .joined()
            + "--\(Self.boundary)--\r\n"
    }

    private func send(
        _ world: World, _ path: String, _ body: String, type: String? = nil, bearer: String? = nil
    ) async throws -> Answer {
        try await world.server.send(
            "POST", path, body: Array(body.utf8), bearer: bearer,
            headers: ["Content-Type": type ?? "multipart/form-data; boundary=\(Self.boundary)"])
    }

    @Test(
        "Forms in parts work as SPiD's SDK for PHP sends them, for tokens and for calls of the API",
        arguments: Backend.available)
    func sdk(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let form = [
                ("client_id", loom.id), ("client_secret", loom.secret), ("redirect_uri", loom.redirectURI),
                ("grant_type", "client_credentials"), ("scope", ""), ("state", ""),
            ]
            for path in ["/oauth/token", "/api/2/oauth/token?method=POST"] {
                let answer = try await send(world, path, body(form))
                #expect(answer.status == 200 && answer.json["user_id"] == false, "\(answer)")
            }
            let quoted = "Multipart/Form-Data; boundary=\"\(Self.boundary)\""
            let token = try await send(world, "/oauth/token", body(form), type: quoted).require("access_token")
            let new = body([("email", "grace@example.com"), ("displayName", "Grace\r\nHopper -- \u{E6}")])
            let refused = try await send(world, "/api/2/signup", new, bearer: token)
            #expect(refused.status == 400 && refused.spidError?.string?.contains("displayName") == true)
            let made = try await send(
                world, "/api/2/signup", body([("email", "grace@example.com"), ("displayName", "Gr\u{E6}ce")]),
                bearer: token)
            #expect(made.status == 201 && made.data["displayName"] == "Gr\u{E6}ce", "\(made)")
            let wrong = try await send(world, "/oauth/token", body(form.map { ($0, $0 == "client_secret" ? "x" : $1) }))
            #expect(wrong.status == 400 && wrong.json["error"] == "invalid_client_credentials")
        }
    }

    @Test(
        "Forms in parts from other clients, or from none, are refused like any other media type",
        arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            for id in [world.backend.id, "unknown", ""] {
                let form = [
                    ("client_id", id), ("client_secret", world.backend.secret), ("grant_type", "client_credentials"),
                ]
                let answer = try await send(world, "/oauth/token", body(form))
                #expect(answer.status == 400 && answer.json["error"] == "invalid_request", "\(id): \(answer)")
                #expect(answer.json["error_description"]?.string?.contains("application/x-www-form-urlencoded") == true)
            }
            let strict = try await world.signIn().require("access_token")
            let path = "/api/2/user/\(world.user)/agreements/accept"
            #expect(try await send(world, path, body([("contextClientId", "x")]), bearer: strict).status == 400)
            for path in ["/oauth/revoke", "/oauth/introspect", "/oauth/exchange"] {
                let answer = try await send(world, path, body([("token", strict)]), bearer: nil)
                #expect((400...401).contains(answer.status), "\(path)")
            }
        }
    }

    @Test("A form in parts that is not as libcurl writes it is refused")
    func strict() async throws {
        try await World.with(.sqlite) { world in
            let loom = try await world.spidBackend()
            let id = "--x\r\nContent-Disposition: form-data; name=\"client_id\"\r\n\r\n\(loom.id)\r\n"
            func part(_ head: String, _ value: String = "1") -> String {
                id + "--x\r\n\(head)\r\n\r\n\(value)\r\n--x--\r\n"
            }
            let good = "Content-Disposition: form-data; name=\"a\""
            var bodies = [
                "", "--x", "--x--", "--x--\r\n", id, id + "--x", id + "--x-", id + "--x--x", " " + part(good),
                part(good) + "epilogue", part(good).replacing("\r\n", with: "\n"), part(good, "\u{0}"), part(""),
                part("X: y\r\n" + good), part(good + "\r\nContent-Type: text/plain"), part(good + "; filename=\"a\""),
                part("Content-Disposition: form-data; name=a"), part("Content-Disposition: form-data; name=\"\""),
                part("Content-Disposition: form-data; name=\"a\\\"b\""), part("Content-Disposition: form-data"),
                part("Content-Disposition: attachment; name=\"a\""), part("Content-Disposition; name=\"a\""),
            ]
            bodies.append(String(repeating: id, count: 101) + "--x--")
            for body in bodies {
                let answer = try await send(world, "/oauth/token", body, type: "multipart/form-data; boundary=x")
                #expect(answer.status == 400 && answer.json["error"] == "invalid_request", "\(body.debugDescription)")
                #expect(
                    answer.json["error_description"]?.string?.contains("malformed") == true, "\(body.debugDescription)")
            }
            let types = [
                "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
                "multipart/form-data; boundary=x; charset=utf-8", "multipart/form-data; boundary=x y",
                "multipart/form-data; boundary=" + String(repeating: "x", count: 71), "multipart/form-data; b=x",
            ]
            for type in types {
                let answer = try await send(world, "/oauth/token", part(good), type: type)
                #expect(answer.status == 400 && answer.json["error"] == "invalid_request", "\(type): \(answer)")
            }
            let large = part(good, String(repeating: "x", count: 65536))
            #expect(try await send(world, "/oauth/token", large, type: "multipart/form-data; boundary=x").status == 413)
            // Read, and refused for what it says.
            let read = try await send(world, "/oauth/token", part(good), type: "multipart/form-data; boundary=x")
            #expect(read.json["error_code"] == "400 Bad Request", "\(read)")
        }
    }
}
