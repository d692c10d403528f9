import JSON
import TestSupport
import Testing

@Suite("What SPiD's apps ask right after a sign-in: required fields, devices, products")
struct DeviceTests {
    @Test(
        "SPiD's API lists those of a client's required_fields that the user has not filled in",
        arguments: Backend.available)
    func requiredFields(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let fields: JSON = ["name.given_name", "name.family_name", "birthday", "display_name", "phone_number"]
            let loom = try await world.spidBackend(["required_fields": fields])
            let grace = try await world.person("grace@example.com")
            let signedIn = try await world.signIn(with: loom, as: "grace@example.com")
            let phone = try signedIn.require("access_token")
            let path = "user/\(grace)/required_fields"
            #expect(try await world.api(path, phone).data == ["requiredFields": fields])
            let changed = try await world.api(
                "user/\(grace)", phone, ["name": #"{"givenName":"Grace"}"#, "birthday": "1906-12-09"])
            #expect(changed.status == 200)
            for token in [phone, try await world.clientToken(loom)] {
                #expect(
                    try await world.api(path, token).data == ["requiredFields": ["name.family_name", "phone_number"]])
            }
            let sister = try await world.clientToken(try await world.spidBackend())
            #expect(try await world.api(path, sister).status == 403, "the user has not used that client")
            let stranger = try await world.clientToken(try await world.spidBackend(["first_party": false]))
            #expect(try await world.api(path, stranger).status == 403)
            #expect(try await world.api("user/\(world.user)/required_fields", phone).status == 403)
        }
    }

    @Test("SPiD's devices endpoint gives the same hash for the same device id", arguments: Backend.available)
    func devices(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let phone = try await world.signIn(with: loom).require("access_token")
            func hash(_ form: KeyValuePairs<String, String>) async throws -> JSON? {
                let answer = try await world.api("devices", phone, form)
                #expect(answer.status == 200, "\(answer)")
                return answer.data["hash"]
            }
            let first = try await hash(["deviceId": "9774d56d682e549c", "platform": "Android"])
            #expect(first?.string?.utf8.count == 64)
            #expect(try await hash(["deviceId": "9774d56d682e549c", "platform": "Android"]) == first)
            #expect(try await hash(["deviceId": "9774d56d682e549d", "platform": "Android"]) != first)
            for form in [[("deviceId", "")], [("platform", "x")], [("deviceId", String(repeating: "x", count: 501))]] {
                let answer = try await world.server.post("/api/2/devices", form: form, bearer: phone)
                #expect(answer.status == 400 && answer.spidError == "Invalid payload data")
            }
            let strict = try await world.signIn().require("access_token")
            #expect(try await world.api("devices", strict, ["deviceId": "x"]).status == 403)
        }
    }

    @Test(
        "SPiD's API gives empty lists of products, 404 for a single one, and 403 for another user's",
        arguments: Backend.available)
    func products(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let phone = try await world.signIn(with: loom).require("access_token")
            let own = try await world.clientToken(loom)
            let other = try await world.newcomer("bea@example.com")
            for token in [phone, own] {
                for path in ["products", "subscriptions", "assets"] {
                    let answer = try await world.api("user/\(world.user)/\(path)", token)
                    #expect(answer.status == 200 && answer.json["type"] == "collection" && answer.data == [])
                    #expect(try await world.api("user/\(other)/\(path)", token).status == 403)
                }
                let one = try await world.api("user/\(world.user)/product/10010", token)
                #expect(one.status == 404 && one.spidError == "No access to that product.")
                #expect(one.json["error"]?["type"] == "ApiException")
                #expect(try await world.api("user/\(other)/product/10010", token).status == 403)
            }
            #expect(try await world.api("products", own).data == [])
            #expect(try await world.api("products", phone).status == 401)
        }
    }
}
