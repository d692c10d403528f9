import JSON
import TestSupport

extension Answer {
    /// The sessions that the page offers, in its order.
    var choices: [String] {
        body.matches(of: /name="session" value="([^"]+)"/).map { String($0.output.1) }
    }

    /// Whether it is the account picker.
    var isPicker: Bool { status == 200 && formAction == "/login/pick" }
}

extension Browser {
    /// The cookie of the sessions that were set aside.
    var others: String? { cookies["spindle_others"] ?? cookies["__Host-spindle_others"] }

    /// Opens `address`, presses "use another account" and signs in as `email`. Ends where the app is answered.
    mutating func useAnother(_ address: String, as email: String) async throws -> Answer {
        let page = try await pressAnother(on: try await open(address))
        let signedIn = try await submit(page, ["email": email, "password": World.password])
        return try await open(signedIn.header("location") ?? "/nowhere")
    }

    /// Presses "use another account" on `page`, and returns the sign-in page.
    mutating func pressAnother(on page: Answer) async throws -> Answer {
        let another = try await submit(page, ["decision": "another"])
        return try await open(another.header("location") ?? "/nowhere")
    }

    /// Goes on as the user of `session`.
    mutating func pick(_ session: String, on page: Answer) async throws -> Answer {
        let picked = try await submit(page, ["session": session])
        return try await open(picked.header("location") ?? "/nowhere")
    }
}

extension World {
    /// The user whose code `answer` brings to the phone.
    func user(of answer: Answer) async throws -> String? {
        let token = try await redeemAuthorization(try answer.requireRedirected("code")).require("access_token")
        return try await server.get("/me", bearer: token).json["sub"]?.string
    }
}
