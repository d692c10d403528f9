import JSON
import TestSupport
import Testing

@Suite("Two nodes over one database behave as one")
struct NodeTests {
    @Test(
        "An exchange code of one node can be redeemed at another node, and only once in all",
        arguments: Backend.available)
    func code(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                let code = try await here.code(of: try await here.signIn())
                async let ours = race(15) { try await here.redeem(code, as: here.backend) }
                async let theirs = race(15) { try await there.redeem(code, as: there.backend) }
                let answers = try await ours + theirs
                #expect(answers.filter { $0.status == 200 }.count == 1)
                #expect(answers.filter { $0.error == "invalid_grant" }.count == 29)
            }
        }
    }

    @Test("A client deleted at one node gets invalid_client at the other", arguments: Backend.available)
    func deletedClient(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                let code = try await here.code(of: try await here.signIn())
                // The other node has the client cached.
                #expect(try await there.redeem("none", as: there.backend).error == "invalid_grant")
                let gone = try await here.server.send(
                    "DELETE", "/admin/v1/clients/\(here.backend.id)", bearer: here.admin)
                #expect(gone.status == 204)
                let answer = try await there.redeem(code, as: there.backend)
                #expect(answer.status == 401 && answer.error == "invalid_client", "\(answer)")
            }
        }
    }

    @Test(
        "A phone that lost a refresh answer gets the same refresh token when it asks another node",
        arguments: Backend.available)
    func refresh(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                let old = try await here.signIn().require("refresh_token")
                let lost = try await here.refresh(old)
                let again = try await there.refresh(old)
                #expect(again.json["refresh_token"] == lost.json["refresh_token"])
                #expect(try await !there.isLive(try lost.require("access_token")))
                // Confirmed at one, a replay at the other.
                #expect(try await here.isLive(try again.require("access_token")))
                #expect(try await there.refresh(old).error == "invalid_grant")
                #expect(try await !here.isLive(try again.require("access_token")))
            }
        }
    }

    @Test("A session and a form of one node are valid at the other", arguments: Backend.available)
    func session(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let code = try await here.sessionCode(of: try await here.signIn())
                var webview = Browser(node)
                #expect(try await webview.open("/auth/session/\(code)").status == 302)
                webview.move(to: here.server)
                let login = try await webview.open("/login")
                #expect(login.body.contains("You are signed in"))
                webview.move(to: node)
                let out = try await webview.submit(login)
                #expect(out.body.contains("You are signed out"))
                #expect(try await !webview.isSignedIn())
            }
        }
    }

    @Test(
        "Tokens of a client disabled at one node fail at the other at once, its authentication in a second",
        arguments: Backend.available)
    func disabled(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                let token = try await there.clientToken(there.backend)
                let phone = try await there.signIn(with: there.backend)
                try await here.change("clients", here.backend.id, ["disabled": true])
                #expect(try await there.server.get("/user/\(there.user)", bearer: token).status == 401)
                #expect(try await !there.isLive(try phone.require("access_token")))
                here.server.clock.advance(by: .seconds(1))
                let asked = try await there.token(["grant_type": "client_credentials"], as: there.backend)
                #expect(asked.error == "invalid_client")
                #expect(
                    try await there.refresh(try phone.require("refresh_token"), as: there.backend).error
                        == "invalid_client")
            }
        }
    }

    @Test("Password guesses at one node count toward the limit at the other", arguments: Backend.available)
    func throttle(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                for _ in 1...5 {
                    _ = try await here.signIn(password: "a guess")
                    _ = try await there.signIn(password: "a guess")
                }
                #expect(try await here.signIn().status == 429)
                #expect(try await there.signIn().status == 429)
            }
        }
    }
}
