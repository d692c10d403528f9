import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// SPiD's endpoints as an app calls them: one function a call.
struct SPiD {
    let server: URL
    let clientID: String
    let clientSecret: String

    struct Tokens: Decodable {
        let userId: String
        let accessToken: String
        let refreshToken: String
        let expiresIn: Int
    }

    /// The address of the sign-in page, for a browser. It comes back to `redirectURI` with a code.
    func signInPage(returningTo redirectURI: String, state: String) -> URL {
        page(
            "flow/login",
            [
                "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI, "state": state,
                "scope": "profile email",
            ])
    }

    /// The address that ends `tokens` and signs the browser out that opens it.
    func signOutPage(returningTo redirectURI: String, _ tokens: Tokens) -> URL {
        page("logout", ["client_id": clientID, "redirect_uri": redirectURI, "oauth_token": tokens.accessToken])
    }

    /// Native sign-in: the app has its own form.
    func tokens(username: String, password: String) async throws -> Tokens {
        try await tokens(["grant_type": "password", "username": username, "password": password])
    }

    /// What the browser came back with.
    func tokens(code: String, redirectURI: String) async throws -> Tokens {
        try await tokens(["grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI])
    }

    /// Signs in with the app's Facebook user; `unknown_user` if no user here is linked to it yet.
    func tokens(_ assertion: Assertion, signSecret: String) async throws -> Tokens {
        let jwt = try assertion.signed(for: .authorization, sentTo: tokenAddress, secret: signSecret)
        return try await tokens(["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": jwt])
    }

    /// Makes an account for that person, with a token of the app's own.
    func register(_ assertion: Assertion, signSecret: String) async throws {
        struct Own: Decodable { let accessToken: String }
        let own = try await URLRequest(
            tokenAddress,
            form: ["grant_type": "client_credentials", "client_id": clientID, "client_secret": clientSecret]
        ).json(Own.self)
        let address = server.appending(path: "api/2/signup_jwt")
        let jwt = try assertion.signed(for: .registration, sentTo: address, secret: signSecret)
        _ = try await URLRequest(address, form: ["jwt": jwt], bearer: own.accessToken).data()
    }

    /// When the access token has expired.
    func refresh(_ tokens: Tokens) async throws -> Tokens {
        try await self.tokens(["grant_type": "refresh_token", "refresh_token": tokens.refreshToken])
    }

    /// A code for the backend: good for 30 seconds, once. The backend redeems it with its own secret.
    func code(for backend: String, _ tokens: Tokens) async throws -> String {
        try await exchange(["clientId": backend, "type": "code"], tokens)
    }

    /// The address that signs a web view in: good for a minute, once. It goes on to `redirectURI`.
    func sessionPage(for backend: String, returningTo redirectURI: String, _ tokens: Tokens) async throws -> URL {
        let code = try await exchange(["clientId": backend, "type": "session", "redirectUri": redirectURI], tokens)
        return server.appending(path: "session/\(code)")
    }

    /// Ends the access token, its refresh token and the web views it signed in.
    func logOut(_ tokens: Tokens) async throws {
        _ = try await URLRequest(server.appending(path: "api/2/logout"), bearer: tokens.accessToken).data()
    }

    private var tokenAddress: URL { server.appending(path: "oauth/token") }

    private func tokens(_ form: [String: String]) async throws -> Tokens {
        let form = form.merging(["client_id": clientID, "client_secret": clientSecret]) { given, _ in given }
        return try await URLRequest(tokenAddress, form: form).json(Tokens.self)
    }

    private func exchange(_ form: [String: String], _ tokens: Tokens) async throws -> String {
        struct Container: Decodable {
            struct Code: Decodable { let code: String }
            let data: Code
        }
        let address = server.appending(path: "api/2/oauth/exchange")
        let request = URLRequest(address, form: form, bearer: tokens.accessToken)
        return try await request.json(Container.self).data.code
    }

    private func page(_ path: String, _ query: [String: String]) -> URL {
        server.appending(path: path)
            .appending(queryItems: query.map { URLQueryItem(name: $0.key, value: $0.value) })
    }
}
