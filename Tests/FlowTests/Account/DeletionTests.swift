import Authentication
import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Users delete their account, and can restore it within the grace period")
struct DeletionFlowTests {
    private func leave(_ visitor: inout BrowserUser, password: String = World.password) async throws -> Answer {
        try await visitor.browser.submit(
            try await visitor.browser.open("/account/delete"), ["current_password": password])
    }

    @Test(
        "A user's deletion request ends all their tokens and sessions, and no app can sign them in meanwhile",
        arguments: Backend.available)
    func scheduled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "profile")
            let code = try await world.code(of: phone)
            var elsewhere = try await world.signedIn()
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account/delete")
            #expect(page.body.contains("14"))
            let answer = try await visitor.browser.submit(page, ["current_password": World.password])
            #expect(answer.status == 200)
            #expect(answer.body.contains("2027-01-29 08:00"))
            #expect(answer.setCookie("spindle_session")?.contains("Max-Age=0") == true)
            let letter = try await world.server.mail.letter(to: World.email)
            #expect(letter.text.contains("2027-01-29 08:00"))
            #expect(letter.link(containing: "/login") != nil)

            #expect(try await !visitor.isSignedIn())
            #expect(try await !elsewhere.isSignedIn())
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            #expect(try await world.signIn().error == "invalid_grant")
            #expect(world.server.log.says("reason=deletion_pending"))
            let due = try #require(try await world.user()["deletion_due_at"]?.integer)
            #expect(due == (world.server.clock.now + .days(14)).seconds)

            // The form again: its session has ended.
            #expect(try await visitor.browser.submit(page, ["current_password": World.password]).status == 303)
            #expect(try await world.user()["deletion_due_at"]?.integer == due)
            #expect(world.server.mail.letters(to: World.email).count == 1)
        }
    }

    @Test("A merchant's backend gets 404 for a user whose deletion is pending", arguments: Backend.available)
    func unseen(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn(with: world.backend)
            let token = try await world.clientToken(world.backend)
            #expect(try await world.server.get("/user/\(world.user)", bearer: token).status == 200)
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            #expect(try await world.server.get("/user/\(world.user)", bearer: token).status == 404)
        }
    }

    @Test(
        "A deletion request with a wrong password is refused, and schedules no deletion",
        arguments: Backend.available)
    func wrong(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            for password in ["a guess", ""] {
                let answer = try await leave(&visitor, password: password)
                #expect(answer.status == 400)
                #expect(answer.body.contains("role=\"alert\""))
            }
            #expect(try await world.user()["deletion_due_at"] == nil)
            #expect(try await visitor.isSignedIn())
        }
    }

    @Test(
        "A user who signs in during the grace period is asked whether to keep the account",
        arguments: Backend.available)
    func restore(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            world.server.clock.advance(by: .days(13))
            let credentials = ["email": World.email, "password": World.password]
            let asked = try await visitor.fill("/login", credentials)
            #expect(asked.formAction == "/account/restore")
            #expect(asked.body.contains("2027-01-29 08:00"))
            let left = try await visitor.browser.submit(asked, ["decision": "leave"])
            #expect(left.status == 200)
            #expect(left.body.contains("2027-01-29 08:00"))
            #expect(try await !visitor.isSignedIn())
            #expect(try await world.user()["deletion_due_at"] != nil)
            #expect(try await visitor.browser.submit(asked, ["decision": "keep"]).status == 410, "the page was used")

            let again = try await visitor.fill("/login?continue=/account/data", credentials)
            let kept = try await visitor.browser.submit(again, ["decision": "keep"])
            #expect(kept.status == 200)
            #expect(kept.body.contains("href=\"/account/data\""))
            #expect(try await visitor.isSignedIn())
            #expect(try await world.user()["deletion_due_at"] == nil)
            world.server.clock.advance(by: .days(30))
            try await sweep(world)
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test(
        "A user can cancel the account's deletion after the app's authorization request has expired",
        arguments: Backend.available)
    func restoreAfterRequest(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            let login = try await visitor.browser.open(world.authorizeAddress())
            let asked = try await visitor.browser.submit(login, ["email": World.email, "password": World.password])
            #expect(asked.formAction == "/account/restore")
            try await world.server.database.write { db in _ = try db.execute("DELETE FROM interactions") }
            let kept = try await visitor.browser.submit(asked, ["decision": "keep"])
            #expect(kept.header("location") == "/account?done=restored", "\(kept)")
            #expect(try await world.user()["deletion_due_at"] == nil)
        }
    }

    @Test(
        "A user who keeps the account, and came from no app, arrives at the account page", arguments: Backend.available)
    func restoreToPage(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            let asked = try await visitor.fill("/login", ["email": World.email, "password": World.password])
            let kept = try await visitor.browser.submit(asked, ["decision": "keep"])
            #expect(kept.header("location") == "/account?done=restored")
            #expect(try await visitor.follow(kept).body.contains("class=\"notice\""))
        }
    }

    @Test(
        "An offer to restore the account signs in no user once the account was restored in another browser",
        arguments: Backend.available)
    func keptElsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            let credentials = ["email": World.email, "password": World.password]
            var thief = BrowserUser(world)
            let offered = try await thief.fill("/login", credentials)
            let asked = try await visitor.fill("/login", credentials)
            for page in [offered, asked] { #expect(page.formAction == "/account/restore") }
            let kept = try await visitor.browser.submit(asked, ["decision": "keep"])
            #expect(kept.header("location") == "/account?done=restored")
            let late = try await thief.browser.submit(offered, ["decision": "keep"])
            #expect(late.status == 410 && thief.browser.session == nil, "\(late)")
            #expect(try await visitor.isSignedIn())
        }
    }

    @Test(
        "An offer to restore the account works only in the browser that it was shown in, for ten minutes",
        arguments: Backend.available)
    func stolen(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            let asked = try await visitor.fill("/login", ["email": World.email, "password": World.password])
            var thief = BrowserUser(world)
            let own = try await thief.browser.open("/login")
            let stolen = try await thief.press(
                own, action: "/account/restore",
                ["verification": asked.fields["verification"] ?? "", "decision": "keep"])
            #expect(stolen.status == 404)
            #expect(try await !thief.isSignedIn())
            let forged = try await visitor.browser.submit(asked, ["decision": "keep", "form_token": "guess"])
            #expect(forged.status == 403)
            world.server.clock.advance(by: .minutes(11))
            #expect(try await visitor.browser.submit(asked, ["decision": "keep"]).status == 410)
            #expect(try await world.user()["deletion_due_at"] != nil)
        }
    }

    @Test("A password reset does not cancel a deletion; signing in afterwards can", arguments: Backend.available)
    func reset(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            _ = try await world.server.mail.letter(to: World.email)
            _ = try await visitor.fill("/password", ["email": World.email])
            let link = try #require(try await world.server.mail.letter(to: World.email).link(containing: "/reset/"))
            let page = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
            let done = try await visitor.browser.submit(page, ["password": "a loom of second thoughts"])
            #expect(done.status == 200 && done.setCookie("spindle_session") == nil, "a cookie of no session")
            #expect(try await !visitor.isSignedIn())
            #expect(try await world.user()["deletion_due_at"] != nil)
            let asked = try await visitor.fill(
                "/login", ["email": World.email, "password": "a loom of second thoughts"])
            #expect(asked.formAction == "/account/restore")
        }
    }

    @Test("Without a grace period a user is deleted at once", arguments: Backend.available)
    func atOnce(backend: Backend) async throws {
        try await World.with(backend, settings: ["deletion_grace": "0"]) { world in
            let phone = try await world.signIn()
            var visitor = try await world.signedIn()
            let answer = try await leave(&visitor)
            #expect(answer.status == 200)
            #expect(answer.setCookie("spindle_session")?.contains("Max-Age=0") == true)
            #expect(try await world.lookUp().status == 404)
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.signIn().error == "invalid_grant")
            _ = try await world.server.mail.letter(to: World.email)
            #expect(
                world.server.mail.letters(to: World.email).count == 1, "one mail, and none about a grace period")
            // The address is free again.
            #expect(try await world.person(World.email) != world.user)
        }
    }

    @Test("A user without a password can request deletion only soon after a sign-in", arguments: Backend.available)
    func passwordless(backend: Backend) async throws {
        try await World.with(backend) { world in
            let email = "grace@example.com"
            let id = try await World.make(world.server, world.admin, "users", ["email": .string(email)])
                .require("user_id")
            var visitor = BrowserUser(world)
            let form = try await visitor.press(
                try await visitor.browser.open("/login"), action: "/login/code", ["email": email])
            let code = try #require(try await world.server.mail.letter(to: email).code)
            _ = try await visitor.browser.submit(form, ["code": code])
            let page = try await visitor.browser.open("/account/delete")
            #expect(!page.body.contains("current_password"))
            world.server.clock.advance(by: .minutes(11))
            let late = try await visitor.browser.submit(page)
            #expect(late.header("location")?.hasPrefix("/login?confirm=1") == true)
            #expect(try await world.user(id)["deletion_due_at"] == nil)

            var again = BrowserUser(world)
            let second = try await again.press(
                try await again.browser.open("/login"), action: "/login/code", ["email": email])
            let newCode = try #require(try await world.server.mail.letter(to: email).code)
            _ = try await again.browser.submit(second, ["code": newCode])
            let done = try await again.browser.submit(try await again.browser.open("/account/delete"))
            #expect(done.status == 200)
            #expect(try await world.user(id)["deletion_due_at"] != nil)
        }
    }

    @Test("Administration deletes a user at once, whatever the grace period", arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let path = "/admin/v1/users/\(world.user)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 404)
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.server.mail.letter(to: World.email).recipient == World.email)
        }
    }

    private func sweep(_ world: World) async throws {
        _ = try await world.deletion.deleteDue(at: world.server.clock.now)
    }

    @Test(
        "A user can request deletion five times, then once an hour, and keep the account at any time",
        arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            let credentials = ["email": World.email, "password": World.password]
            for _ in 1...5 {
                var visitor = try await world.signedIn()
                #expect(try await leave(&visitor).status == 200)
                let asked = try await visitor.fill("/login", credentials)
                #expect(try await visitor.browser.submit(asked, ["decision": "keep"]).status == 303)
                _ = try await world.server.mail.letter(to: World.email)
            }
            var visitor = try await world.signedIn()
            let refused = try await leave(&visitor)
            #expect(refused.status == 429 && refused.header("retry-after") == "3600")
            #expect(refused.body.contains("role=\"alert\""))
            #expect(try await visitor.isSignedIn())
            #expect(try await world.user()["deletion_due_at"] == nil)
            world.server.clock.advance(by: .hours(1))
            visitor = try await world.signedIn()
            #expect(try await leave(&visitor).status == 200)
        }
    }

    @Test(
        "An unverified address gets at most five mails about account changes at once, a verified one gets all",
        arguments: Backend.available)
    func notices(backend: Backend) async throws {
        try await World.with(backend) { world in
            for isVerified in [false, true] {
                let email = "grace\(isVerified)@example.com"
                let grace = try await world.person(email)
                if isVerified { try await world.change("users", grace, ["email_verified": true]) }
                var visitor = try await world.signedIn(as: email)
                var password = World.password
                for number in 1...7 {
                    let new = "loom number \(number) of many"
                    let done = try await visitor.change(
                        "password", ["current_password": password, "new_password": new])
                    #expect(done.header("location") == "/account?done=password")
                    password = new
                }
                let told = isVerified ? 7 : 5
                for _ in 1...told { _ = try await world.server.mail.letter(to: email) }
                #expect(world.server.mail.letters(to: email).count == told)
            }
        }
    }

    @Test(
        "Of the restore offers from repeated sign-ins while a deletion is pending, at most ten are stored",
        arguments: Backend.available)
    func offers(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            let credentials = ["email": World.email, "password": World.password]
            for _ in 1...12 { _ = try await visitor.fill("/login", credentials) }
            #expect(try await world.count("verifications WHERE purpose = 'restore'") == 10)
            let last = try await visitor.fill("/login", credentials)
            #expect(try await visitor.browser.submit(last, ["decision": "keep"]).status == 303)
        }
    }
}
