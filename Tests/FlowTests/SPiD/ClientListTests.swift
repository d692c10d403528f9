import JSON
import TestSupport
import Testing

@Suite("SPiD's API shows a backend the clients of its merchant") struct ClientListTests {
    @Test("A backend lists all clients of its merchant, in a map by client id", arguments: Backend.available)
    func list(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.spidBackend(["web_origins": ["https://loom.example"]])
            let token = try await world.clientToken(own)
            let list = try await world.api("clients", token)
            #expect(list.status == 200 && list.json["type"] == "element" && list.json["object"] == "Client")
            #expect(
                list.data.members?.map(\.name)
                    == [world.app.id, world.backend.id, own.id].sorted())
            #expect(
                list.data[own.id] == [
                    "id": .string(own.id), "name": "Loom in SPiD's ways", "alias": "", "domain": "https://loom.example",
                    "merchantId": 1,
                    "merchant": ["name": "Loom", "locale": "", "providerId": "", "logo": "", "type": "external"],
                    "redirectUris": ["https://backend.example/callback"], "accessTokenLifetime": "3600",
                    "fields": .object([]), "css": .object([]), "termsCss": .object([]), "autoApprove": "1",
                    "enableSso": "0", "universalDataAccess": "0",
                    "unregisteredPayments": "0",
                ])
            #expect(list.data[world.app.id]?["domain"] == "")
            let fields: JSON = ["name.family_name", "name.given_name", "birthday"]
            _ = try await world.change("clients", own.id, ["required_fields": fields])
            let asking = try await world.api("client/\(own.id)", token)
            #expect(asking.data["fields"] == ["birthday": true, "names": true])
            let look: JSON = ["logo_uri": "https://loom.example/logo.png", "skip_introduction": true]
            #expect(try await world.change("merchants", world.merchant, look).status == 200)
            let merchant = try await world.api("client/\(own.id)", token).data["merchant"]
            #expect(merchant?["logo"] == "https://loom.example/logo.png" && merchant?["type"] == "internal")
        }
    }

    @Test("SPiD's API gives a merchant's list of many large clients in parts", arguments: Backend.available)
    func parts(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let few = try await world.api("clients?limit=1&offset=1", token)
            #expect(few.data.members?.count == 1)
            let addresses: [JSON] = (10...39).map {
                .string("https://large.example/\($0)" + String(repeating: "y", count: 1900))
            }
            for _ in 1...8 { _ = try await world.confidential(["redirect_uris": .array(addresses)]) }
            var names: [String] = []
            while let some = try await world.api("clients?offset=\(names.count)", token).data.members, !some.isEmpty {
                #expect(some.count < 11)
                names += some.map(\.name)
            }
            #expect(names.count == 11 && names == names.sorted())
        }
    }

    @Test(
        "A change of a client shows in SPiD's API at once, and a disabled client is unknown",
        arguments: Backend.available)
    func changes(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let path = "client/\(world.backend.id)"
            #expect(try await world.api(path, token).data["autoApprove"] == "1")
            try await world.change(
                "clients", world.backend.id,
                ["client_name": "Renamed", "first_party": false, "access_token_lifetime": 604_800])
            let changed = try await world.api(path + ".json", token)
            #expect(changed.status == 200 && changed.data["name"] == "Renamed" && changed.data["autoApprove"] == "0")
            #expect(changed.data["accessTokenLifetime"] == "604800")
            #expect(changed.json["debug"]?["params"]?["where"] == ["id": .string(world.backend.id)])

            try await world.change("clients", world.backend.id, ["disabled": true])
            #expect(try await world.api(path, token).status == 404)
            #expect(try await world.api("clients", token).data[world.backend.id] == nil)
        }
    }

    @Test(
        "SPiD's API does not know another merchant's client, and refuses a client without SPiD compatibility",
        arguments: Backend.available)
    func refusals(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            for id in [world.rivalBackend.id, "unknown", "%00"] {
                let answer = try await world.api("client/\(id)", token)
                #expect(answer.status == 404 && answer.json["code"] == 404 && answer.data == .null)
                #expect(answer.spidError == "Unknown client ID" || id == "%00")
            }
            let strict = try await world.api("clients", try await world.clientToken(world.backend))
            #expect(strict.status == 403 && strict.json["error"]?["type"] == "ApiException")
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.api("clients", phone).status == 401)
            #expect(try await world.api("clients", nil).status == 401)
        }
    }
}
