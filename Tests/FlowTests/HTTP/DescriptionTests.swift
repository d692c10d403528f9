import JSON
import TestSupport
import Testing

@Suite("The description of the API at /openapi.json")
struct DescriptionTests {
    @Test("The description has each route of the server, and no other")
    func routes() async throws {
        try await World.with(.sqlite) { world in
            let description = try await world.server.get("/openapi.json")
            #expect(description.status == 200 && description.header("content-type") == "application/json")
            #expect(description.header("access-control-allow-origin") == "*")
            #expect(description.header("cache-control") == "public, max-age=300")
            #expect(description.json["openapi"] == "3.1.0")
            var described: Set<String> = []
            for path in description.json["paths"]?.members ?? [] {
                for method in path.value.members ?? [] { described.insert("\(method.name.uppercased()) \(path.name)") }
            }
            let served = try Set(world.server.routes.filter(Self.isDescribed))
            #expect(served.count > 150)
            #expect(served.subtracting(described).sorted() == [])
            #expect(described.subtracting(served).sorted() == [])
        }
    }

    /// Not the other spellings of SPiD's API: `/api/` for `/api/2/`, and `.json` at the end.
    private static func isDescribed(_ route: String) -> Bool {
        guard let path = route.split(separator: " ").last, path.hasPrefix("/api/") else { return true }
        return path.hasPrefix("/api/2/") && !path.hasSuffix(".json")
    }

    @Test("Each operation of the description has a name that no other has, and each reference leads to something")
    func names() async throws {
        try await World.with(.sqlite) { world in
            let json = try await world.server.get("/openapi.json").json
            let operations = (json["paths"]?.members ?? []).flatMap { $0.value.members ?? [] }.map(\.value)
            let ids = operations.compactMap { $0["operationId"]?.string }
            #expect(ids.count == operations.count && Set(ids).count == ids.count)
            for (name, path) in Self.references(in: json) {
                let found = path.split(separator: "/").dropFirst().reduce(json as JSON?) { $0?[String($1)] }
                #expect(found != nil, "\(name)")
            }
        }
    }

    private static func references(in json: JSON) -> [(name: String, path: String)] {
        switch json {
        case .array(let values): return values.flatMap(references)
        case .object(let members):
            return members.flatMap { member in
                if member.name == "$ref", let path = member.value.string { return [(path, path)] }
                return references(in: member.value)
            }
        default: return []
        }
    }

    @Test("What administration shows has only members that its description declares", arguments: Backend.available)
    func members(backend: Backend) async throws {
        try await World.with(backend) { world in
            let json = try await world.server.get("/openapi.json").json
            func expectDeclared(_ shown: JSON, as name: String) throws {
                let declared = try #require(json["components"]?["schemas"]?[name]?["properties"]?.members).map(\.name)
                let names = try #require(shown.members).map(\.name)
                #expect(names.filter { !declared.contains($0) } == [], "\(name)")
            }
            for (path, name) in [("merchants", "Merchant"), ("clients", "Client"), ("users", "User")] {
                let list = try await world.server.get("/admin/v1/\(path)", bearer: world.admin)
                for item in try #require(list.json["items"]?.array) { try expectDeclared(item, as: name) }
            }
        }
    }
}
