import Foundation
import JSON
import TestSupport
import Testing

@Suite("SPiD's API tells whether an address can sign up")
struct EmailStatusTests {
    @Test(
        "SPiD's API tells whether an e-mail address is free, taken or verified, in base64 or base64url",
        arguments: Backend.available)
    func status(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            func status(_ email: String) async throws -> JSON {
                let text = TestServer.encode(Data(email.utf8).base64EncodedString())
                let answer = try await world.api("email/\(text)/status", token)
                #expect(answer.status == 200 && answer.json["object"] == "Email")
                return answer.data
            }
            #expect(try await status("aa~a??@example.com") == ["exists": false, "available": true, "verified": false])
            #expect(try await status(World.email) == ["exists": true, "available": false, "verified": false])
            #expect(try await status(" ADA@example.com ") == ["exists": true, "available": false, "verified": false])
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await status(World.email) == ["exists": true, "available": false, "verified": true])
            // Without padding and in base64url, as SPiD's own SDKs send it; with a suffix too.
            let plain = try await world.api("email/YWRhQGV4YW1wbGUuY29t/status.json", token)
            #expect(plain.data["exists"] == true)
            let url = Data("aa~a??@example.com".utf8).base64EncodedString().replacing("+", with: "-")
                .replacing("/", with: "_")
            #expect(try await world.api("email/\(url)/status", token).data["available"] == true)
        }
    }

    @Test("The e-mail status gives 400 for an invalid address, and refuses a token that is not a backend's")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            for text in ["ada@example.com", "YWRh", "_", "YWRhQGV4YW1wbGUuY29t=x", "/w=="] {
                let answer = try await world.api("email/\(TestServer.encode(text))/status", token)
                #expect(answer.status == 400, "\(text)")
                #expect(
                    answer.spidError == "Email parameter did not properly base64 decode into a valid email")
            }
            let path = "email/YWRhQGV4YW1wbGUuY29t/status"
            #expect(try await world.api(path, nil).status == 401)
            #expect(try await world.api(path, try await world.signIn(with: loom).require("access_token")).status == 401)
            #expect(try await world.api(path, try await world.clientToken(world.backend)).status == 403)
        }
    }

    @Test(
        "A third-party client cannot ask SPiD's API whether an e-mail address has a user",
        arguments: Backend.available)
    func thirdParty(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(try await world.spidBackend())
            let stranger = try await world.clientToken(try await world.spidBackend(["first_party": false]))
            for email in [World.email, "nobody@example.com", "nonsense"] {
                let path = "email/\(Data(email.utf8).base64EncodedString())/status"
                #expect(try await world.api(path, own).status == (email == "nonsense" ? 400 : 200))
                let answer = try await world.api(path, stranger)
                #expect(answer.status == 403 && answer.data == .null)
            }
        }
    }
}
