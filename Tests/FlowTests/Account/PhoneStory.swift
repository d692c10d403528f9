import JSON
import Mail
import TestSupport
import Testing

/// A server that sends text messages.
enum PhoneStory {
    static let settings = ["sms": "file:outbox"]
    static let number = "+4740000000"

    static func with(
        _ backend: Backend, settings: [String: String] = settings, _ story: (World) async throws -> Void
    ) async throws {
        try await World.with(backend, settings: settings) { world in
            try await world.change("users", world.user, ["email_verified": true])
            try await story(world)
        }
    }
}

extension World {
    /// Signs the user in and has `number` verified.
    func verifiesPhone(_ number: String = PhoneStory.number, as email: String = World.email) async throws {
        var visitor = try await signedIn(as: email)
        let asked = try await visitor.asksForText(number)
        let done = try await visitor.browser.submit(asked, ["code": try await textCode(number)])
        try #require(done.header("location") == "/account/phones?done=added", "\(done)")
        _ = try await server.mail.letter(to: email)
    }

    /// The code of the next text message to `number`.
    func textCode(_ number: String = PhoneStory.number) async throws -> String {
        try #require(try await server.mail.letter(to: number).code)
    }
}

extension BrowserUser {
    /// Enters a number on the page for phone numbers.
    mutating func asksForText(_ number: String) async throws -> Answer {
        let page = try await browser.open("/account/phones")
        return try await browser.submit(page, ["phone_number": number], to: "/account/phones")
    }
}
