import JSON
import Mail
import TestSupport
import Testing
import Values

/// The form of a site whose backend speaks for its people, from the one address that all of them have.
private struct SiteForm {
    let world: World
    let client: World.Actor
    let connection: String

    init(_ world: World, _ connection: String, of merchant: String? = nil) async throws {
        self.world = world
        self.connection = connection
        client = try await world.spidBackend(
            ["grant_types": ["passwordless", "refresh_token", "client_credentials"]], of: merchant)
    }

    /// A token, and the code that was sent with it.
    func asked() async throws -> (token: String, code: String) {
        let isText = connection == "sms"
        let recipient = isText ? PhoneStory.number : World.email
        let answer = try await world.server.post(
            "/passwordless/start",
            form: [("connection", connection), (isText ? "phone_number" : "email", recipient), ("locale", "en")],
            basic: client.basic)
        let token = try answer.require("passwordless_token")
        return (token, try #require(try await world.server.mail.letter(to: recipient).code))
    }

    func redeem(_ token: String, _ code: String) async throws -> Answer {
        try await world.server.post(
            "/oauth/ro",
            form: [
                ("grant_type", "passwordless"), ("connection", connection), ("passwordless_token", token),
                ("code", code),
            ], basic: client.basic)
    }

    /// Types fifteen wrong codes.
    func guess() async throws {
        for _ in 1...3 {
            let token = try await asked().token
            for _ in 1...5 {
                let answer = try await redeem(token, "1")
                #expect(answer.status == 400, "\(answer)")
            }
        }
    }
}

@Suite("Limits of codes that backends ask for: wrong guesses, and shares of an address's mails")
struct BackendGuessTests {
    @Test(
        "Fifteen wrong codes at a backend's form lock the user out there for half an hour",
        arguments: Backend.available, ["email", "sms"])
    func counted(backend: Backend, connection: String) async throws {
        try await PhoneStory.with(backend) { world in
            try await world.verifiesPhone()
            let form = try await SiteForm(world, connection)
            let (token, code) = try await form.asked()
            #expect(try await form.redeem(token, code).status == 200)
            try await form.guess()
            let (last, right) = try await form.asked()
            let refused = try await form.redeem(last, right)
            #expect(refused.status == 429 && refused.header("retry-after") == "1800", "\(refused)")
            world.server.clock.advance(by: .minutes(30))
            let (later, rightLater) = try await form.asked()
            #expect(try await form.redeem(later, rightLater).status == 200)
        }
    }

    @Test(
        "Wrong codes at a backend's form lock the user out neither of their own browser nor of another merchant's form",
        arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            var ada = try await world.signedIn()
            ada.browser.forgetSession()
            let form = try await SiteForm(world, "email")
            try await form.guess()
            let (token, code) = try await form.asked()
            #expect(try await form.redeem(token, code).status == 429)

            let rival = try await SiteForm(world, "email", of: world.rival)
            let (theirs, theirCode) = try await rival.asked()
            #expect(try await rival.redeem(theirs, theirCode).status == 200)
            let page = try await ada.press(
                try await ada.browser.open("/login"), action: "/login/code", ["email": World.email])
            let own = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await ada.browser.submit(page, ["code": own]).status == 303)
        }
    }
}
