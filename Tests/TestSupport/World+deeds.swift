import Storage

// The actions of the users and clients of the world.
extension World {
    /// A user signs in with name and password: by default Ada on her phone.
    public func signIn(
        scope: String = "", with client: Actor? = nil, as email: String = World.email,
        password: String = World.password, from address: String? = nil
    ) async throws -> Answer {
        try await token(
            ["grant_type": "password", "username": email, "password": password, "scope": scope],
            as: client ?? app, headers: address.map { ["X-Forwarded-For": $0] } ?? [:])
    }

    /// Sends a request to the token endpoint, with the credentials of `client`.
    public func token(
        _ form: KeyValuePairs<String, String>, as client: Actor, headers: [String: String] = [:]
    ) async throws -> Answer {
        let pairs = form.map { ($0.key, $0.value) }
        guard client.secret.isEmpty else {
            return try await server.post("/oauth/token", form: pairs, basic: client.basic, headers: headers)
        }
        return try await server.post("/oauth/token", form: pairs + [("client_id", client.id)], headers: headers)
    }

    public func exchange(
        _ accessToken: String, for receiver: Actor, type: String = "code", redirectURI: String = ""
    ) async throws -> Answer {
        try await server.post(
            "/oauth/exchange", ["clientId": receiver.id, "type": type, "redirectUri": redirectURI],
            bearer: accessToken)
    }

    public func redeem(_ code: String, as receiver: Actor, redirectURI: String? = nil) async throws -> Answer {
        try await token(
            ["grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI ?? receiver.redirectURI],
            as: receiver)
    }

    public func refresh(_ refreshToken: String, as client: Actor? = nil, scope: String = "") async throws -> Answer {
        try await token(
            ["grant_type": "refresh_token", "refresh_token": refreshToken, "scope": scope], as: client ?? app)
    }

    public func introspect(_ token: String, as client: Actor) async throws -> Answer {
        try await server.post("/oauth/introspect", ["token": token], basic: client.basic)
    }

    /// A client's token for itself.
    public func clientToken(_ client: Actor, scope: String = "") async throws -> String {
        try await token(["grant_type": "client_credentials", "scope": scope], as: client).require("access_token")
    }

    /// A code that the phone gets for its backend.
    public func code(of phone: Answer) async throws -> String {
        try await exchange(try phone.require("access_token"), for: backend).require("code")
    }

    /// A session code that the phone gets for its own webview.
    public func sessionCode(of phone: Answer) async throws -> String {
        try await exchange(
            try phone.require("access_token"), for: app, type: "session", redirectURI: Self.webview
        ).require("code")
    }

    public func isLive(_ accessToken: String) async throws -> Bool {
        try await server.get("/me", bearer: accessToken).status == 200
    }

    /// Waits until every stored mail has been sent, apart from those that only look like one from outside.
    public func allMailsSent() async throws {
        while try await !server.database.rows(
            "SELECT id FROM deliveries WHERE kind = 'mail' AND expires_at > created_at AND failed_at IS NULL LIMIT 1"
        ).isEmpty {
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
