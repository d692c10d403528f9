import JSON
import TestSupport
import Testing

@Suite("SPiD's API refuses an exchange with SPiD's errors") struct ExchangeWordsTests {
    @Test(
        "A refused exchange has SPiD's text and status in SPiD's API, and OAuth's own elsewhere",
        arguments: Backend.available)
    func texts(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let bare = try await world.confidential(["redirect_uris": [], "grant_types": ["client_credentials"]])
            let own = world.backend.id
            let refusals: [(KeyValuePairs<String, String>, Int, String)] = [
                (["type": "code"], 400, "Required client ID missing"),
                (["clientId": "", "type": "code"], 400, "Required client ID missing"),
                (["clientId": own], 400, "Request must contain a valid exchange type"),
                (["clientId": own, "type": "token"], 400, "Request must contain a valid exchange type"),
                (["clientId": own, "type": "session"], 400, "Type session: Missing redirect URI"),
                (
                    ["clientId": bare.id, "type": "code"], 400,
                    "Type code: Client to exchange token with is missing a default redirect"
                ),
                (
                    ["clientId": world.rivalBackend.id, "type": "code"], 403,
                    "Provided client ID does not belong to the current merchant"
                ),
                (
                    ["clientId": "nobody", "type": "code"], 403,
                    "Provided client ID does not belong to the current merchant"
                ),
            ]
            for (form, status, text) in refusals {
                let refused = try await world.api("oauth/exchange", token, form)
                #expect(refused.status == status && refused.json["code"] == .integer(Int64(status)), "\(text)")
                #expect(refused.spidError == .string(text))
                // Elsewhere it is OAuth's own.
                let plain = try await world.server.post("/oauth/exchange", form, bearer: token)
                #expect(plain.status != 200 && plain.json["error_description"] != .string(text))
            }
            let bought = try await world.api("oauth/exchange", token, ["client_id": own, "type": "code"])
            #expect(bought.status == 200)
        }
    }
}
