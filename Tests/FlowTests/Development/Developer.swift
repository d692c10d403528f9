import Foundation
import TestSupport

/// A developer who tries an app out: a browser, and a server in development mode.
struct Developer {
    var browser: Browser
    let world: World

    static let path = "/development/sign-in"

    init(_ world: World) {
        self.world = world
        browser = Browser(world.server)
    }

    /// The page that an address leads to.
    mutating func page(at path: String) async throws -> Answer {
        var answer = try await browser.open(path)
        for _ in 1...2 where answer.status == 303 {
            answer = try await browser.open(answer.header("location") ?? "/nowhere")
        }
        return answer
    }

    /// Signs in as `name` for the request at `path`, with `choices` over those of the form, and goes on to the
    /// response.
    mutating func enter(
        as name: String, at path: String, choosing choices: [String: String] = [:]
    ) async throws -> Answer {
        let signedIn = try await submit(try await page(at: path), as: name, choosing: choices)
        guard signedIn.status == 303, let location = signedIn.header("location") else { return signedIn }
        return try await browser.open(location)
    }

    mutating func submit(
        _ page: Answer, as name: String, choosing choices: [String: String] = [:]
    ) async throws -> Answer {
        let form = ["username": name, "outcome": "sign_in", "refresh_token": "1"]
        return try await browser.submit(page, form.merging(choices) { $1 })
    }

    /// Chooses `error` for the request at `path`.
    mutating func refuse(_ path: String, with error: String) async throws -> Answer {
        try await browser.submit(try await page(at: path), ["username": "", "outcome": "error", "error": error])
    }

    /// The tokens that the phone gets for `name`.
    mutating func tokens(
        as name: String, _ changes: KeyValuePairs<String, String> = ["scope": "openid profile email offline_access"],
        choosing choices: [String: String] = [:]
    ) async throws -> Answer {
        let answer = try await enter(as: name, at: world.authorizeAddress(changes), choosing: choices)
        return try await world.redeemAuthorization(try answer.requireRedirected("code"))
    }
}

extension Answer {
    /// The parameters in the fragment of the redirect location.
    var fragment: [String: String] {
        let pairs = (header("location") ?? "").split(separator: "#").dropFirst().first?.split(separator: "&") ?? []
        return pairs.reduce(into: [:]) { values, pair in
            let halves = pair.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
            values[halves.first ?? ""] = halves.count == 2 ? halves[1] : ""
        }
    }
}
