import JSON
import Server
import TestSupport
import Testing
import Values

@Suite("SPiD's status endpoint is public") struct StatusTests {
    @Test("The status endpoint answers GET and POST without a token, with an app's parameters or none")
    func status() async throws {
        try await World.with(.sqlite) { world in
            let asked = try await world.api("status", nil)
            #expect(asked.status == 200 && asked.json["request"] == .null && asked.json["object"] == "Platform")
            #expect(
                asked.data["oauth"] == [
                    "flows": "redirect|native|webview",
                    "grantTypes": .string(
                        "password|client_credentials|authorization_code|refresh_token|"
                            + "urn:ietf:params:oauth:grant-type:jwt-bearer|"
                            + "urn:ietf:params:oauth:grant-type:token-exchange"),
                ])
            #expect(asked.data["apiVersion"] == 2 && asked.data["platform"] == "up" && asked.data["block"] == false)
            #expect(asked.data["webVersion"] == .string(Spindle.version) && asked.data["timeZone"] == "UTC")

            let posted = try await world.api("status", nil, ["fp": "eyJhIjoiYiJ9+/==", "clientId": "whoever"])
            #expect(posted.status == 200 && posted.data == asked.data)
            #expect(try await world.server.send("POST", "/api/2/status.json").data == asked.data)
            // Nobody's token is needed, and none is looked at.
            #expect(try await world.api("status", "unknown").status == 200)
        }
    }

    @Test("The version endpoint tells the current time")
    func version() async throws {
        try await World.with(.sqlite) { world in
            let before = try await world.api("version", nil)
            let time = world.server.clock.now.iso8601.replacing("T", with: " ").replacing("Z", with: "")
            #expect(
                before.data == [
                    "apiVersion": 2, "apiRevision": "0", "webVersion": .string(Spindle.version),
                    "currentTime": .string(time), "timeZone": "UTC",
                ])
            world.server.clock.advance(by: .hours(30))
            let after = try await world.api("version.json", nil)
            #expect(after.data["currentTime"] != before.data["currentTime"])
            #expect(try await world.server.send("DELETE", "/api/2/version").status == 405)
        }
    }
}
