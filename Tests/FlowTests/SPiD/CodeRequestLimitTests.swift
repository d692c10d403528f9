import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

/// The form of a site whose backend asks for its users, all from one IP address.
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
struct CodeRequestLimitTests {
    // MARK: Wrong guesses

    @Test(
        "After fifteen wrong codes through a backend, the user's codes are refused there for half an hour",
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
        "Wrong codes through a backend do not affect the user's known browser or another merchant's backend",
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

    // MARK: Shares of an address's mails

    private static let settings = ["trusted_proxies": "127.0.0.0/8"]

    /// A client that may ask for codes.
    private func app(_ world: World, of merchant: String? = nil) async throws -> World.Actor {
        try await world.spidBackend(
            ["grant_types": ["passwordless", "password", "refresh_token", "client_credentials"]], of: merchant)
    }

    /// Strangers ask until no more mails go to Ada. Returns how many came.
    private func useUp(_ world: World, _ app: World.Actor, from address: String = "198.51.100.7") async throws -> Int {
        for _ in 1...8 { try await start(world, app, from: address) }
        return try await mails(world)
    }

    /// Asks as an app, without a secret.
    private func start(_ world: World, _ app: World.Actor, from address: String) async throws {
        let answer = try await world.server.post(
            "/passwordless/start", ["client_id": app.id, "connection": "email", "email": World.email],
            headers: ["X-Forwarded-For": address])
        #expect(answer.status == 200)
    }

    /// Asks as a backend.
    private func ask(_ world: World, _ backend: World.Actor) async throws {
        let token = try await world.clientToken(backend)
        let answer = try await world.api("passwordless/start", token, ["connection": "email", "email": World.email])
        #expect(answer.status == 200 || answer.status == 201, "\(answer)")
    }

    /// How many codes were stored and mailed since the last call.
    private func mails(_ world: World) async throws -> Int {
        try await world.server.database.write { db in
            let codes = try db.rows("SELECT id FROM verifications WHERE email = \(World.email) AND code IS NOT NULL")
            try db.execute("DELETE FROM verifications")
            return codes.count
        }
    }

    @Test(
        "Strangers' requests for a user's mailed codes leave a reserve for the app at the user's known IP",
        arguments: Backend.available)
    func app(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            try await world.change("users", world.user, ["email_verified": true])
            let app = try await app(world)
            #expect(try await world.signIn(with: app, from: "203.0.113.5").status == 200)
            #expect(try await useUp(world, app) == 5)
            try await start(world, app, from: "203.0.113.5")
            #expect(try await mails(world) == 1)
            try await start(world, app, from: "203.0.113.6")
            #expect(try await mails(world) == 0)
            // That share has a limit too.
            #expect(try await useUp(world, app, from: "203.0.113.5") == 4)
        }
    }

    @Test(
        "Strangers' and other merchants' requests for a user's codes leave a reserve for the user's merchant",
        arguments: Backend.available)
    func backend(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let (own, sibling) = (try await app(world), try await app(world))
            let foreign = try await app(world, of: world.rival)
            #expect(try await world.signIn(with: own, from: "203.0.113.5").status == 200)
            #expect(try await useUp(world, own) == 5)
            for _ in 1...6 { try await ask(world, foreign) }
            #expect(try await mails(world) == 0, "the rival has none of its own for who never used it")
            try await ask(world, own)
            #expect(try await mails(world) == 1)
            // All backends of a merchant have one share.
            for _ in 1...6 { try await ask(world, sibling) }
            #expect(try await mails(world) == 4)
            // A third party's client has no share, however many there are.
            for _ in 1...3 {
                let third = try await world.spidBackend([
                    "grant_types": ["passwordless", "client_credentials"], "first_party": false,
                ])
                let form: KeyValuePairs = ["connection": "email", "email": World.email]
                #expect(try await world.server.post("/passwordless/start", form, basic: third.basic).status == 200)
            }
            #expect(try await mails(world) == 0)
            // A secret proves the backend, which has its share left.
            world.server.clock.advance(by: .minutes(12))
            try await start(world, own, from: "198.51.100.8")
            #expect(try await mails(world) == 1)
            try await start(world, own, from: "198.51.100.8")
            #expect(try await mails(world) == 0)
            let form: KeyValuePairs = ["connection": "email", "email": World.email]
            #expect(try await world.server.post("/passwordless/start", form, basic: own.basic).status == 200)
            #expect(try await mails(world) == 1)
        }
    }
}
