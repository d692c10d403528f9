import JSON
import Mail
import TestSupport
import Testing

@Suite("Mails about changes of an account are in the account's language")
struct WarningLanguageTests {
    private static let german = ["Accept-Language": "de"]
    private static let new = "ada.lovelace@example.com"

    /// A world in which Ada's account is in Norwegian.
    private func with(_ backend: Backend, _ story: (World) async throws -> Void) async throws {
        try await PhoneStory.with(backend) { world in
            let changed = try await world.change("users", world.user, ["locale": "no"])
            try #require(changed.status == 200, "\(changed)")
            try await story(world)
        }
    }

    @Test(
        "The mail that tells the former address of a change is in the account's language, not the browser's",
        arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await with(backend) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account", headers: Self.german)
            let asked = try await visitor.browser.submit(
                page, ["email": Self.new, "current_password": World.password], to: "/account/email",
                headers: Self.german)
            let code = try #require(try await world.server.mail.letter(to: Self.new).code)
            let done = try await visitor.browser.submit(asked, ["code": code], headers: Self.german)
            #expect(done.header("location") == "/account?done=email", "\(done)")
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.subject.hasPrefix("Adressen din hos "), "\(told.subject)")
        }
    }

    @Test(
        "The mail about a new phone number is in the account's language, not the browser's",
        arguments: Backend.available)
    func phone(backend: Backend) async throws {
        try await with(backend) { world in
            var visitor = try await world.signedIn()
            let asked = try await visitor.asksForText(PhoneStory.number)
            let code = try await world.textCode()
            let done = try await visitor.browser.submit(asked, ["code": code], headers: Self.german)
            #expect(done.header("location") == "/account/phones?done=added", "\(done)")
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.subject.hasPrefix("Et telefonnummer ble lagt til "), "\(told.subject)")
        }
    }

    @Test(
        "The mail about a new password is in the account's language, whatever ui_locales the form sends",
        arguments: Backend.available, ["", "?ui_locales=de"])
    func password(backend: Backend, query: String) async throws {
        try await with(backend) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account", headers: Self.german)
            let done = try await visitor.browser.submit(
                page, ["current_password": World.password, "new_password": PasswordChangeTests.new],
                to: "/account/password\(query)", headers: Self.german)
            #expect(done.header("location") == "/account?done=password", "\(done)")
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.subject.hasPrefix("Passordet ditt for "), "\(told.subject)")
        }
    }

    @Test(
        "The mail about a scheduled deletion is in the account's language, whatever ui_locales the form sends",
        arguments: Backend.available, ["", "?ui_locales=de"])
    func deletion(backend: Backend, query: String) async throws {
        try await with(backend) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account/delete", headers: Self.german)
            let done = try await visitor.browser.submit(
                page, ["current_password": World.password], to: "/account/delete\(query)", headers: Self.german)
            #expect(done.status == 200, "\(done)")
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.subject.hasPrefix("Kontoen din hos "), "\(told.subject)")
        }
    }
}
