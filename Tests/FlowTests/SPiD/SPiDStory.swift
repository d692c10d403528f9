import JSON
import Storage
import TestSupport
import Testing
import Values

/// The requests of SPiD's apps and backends.
extension World {
    /// A backend of Loom that is set to SPiD compatibility, with `changes` over its registration.
    func spidBackend(_ changes: KeyValuePairs<String, JSON> = [:], of merchant: String? = nil) async throws -> Actor {
        let backend = try await confidential(
            ["spid_compatible": true, "client_name": "Loom in SPiD's ways"], of: merchant)
        if !changes.isEmpty {
            let members = changes.map { JSON.Member($0.key, $0.value) }
            try #require(try await change("clients", backend.id, .object(members)).status == 200)
        }
        return backend
    }

    /// A GET of SPiD's API.
    func api(_ path: String, _ token: String?) async throws -> Answer {
        try await server.get("/api/2/" + path, bearer: token)
    }

    /// A POST of SPiD's API.
    func api(_ path: String, _ token: String?, _ form: KeyValuePairs<String, String>) async throws -> Answer {
        try await server.post("/api/2/" + path, form, bearer: token)
    }
}

extension Answer {
    /// The data of SPiD's response container.
    var data: JSON { json["data"] ?? .null }
    /// The `description` of the error in SPiD's response container.
    var spidError: JSON? { json["error"]?["description"] }
}

extension World {
    /// A new user with `uuid`, as an import keeps it, whom no client knows.
    func newcomer(keeping uuid: String) async throws {
        let id = try #require(Int64(try await newcomer("mary@example.com")))
        let changed = try await server.database.write { db in
            try db.execute("UPDATE users SET subject = \(uuid) WHERE id = \(id)")
        }
        #expect(changed == 1)
    }
}
