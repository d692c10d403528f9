/// A browser that keeps cookies. It follows redirects only to the page that asks for a mailed code, and those that ask
/// whether it keeps cookies.
public struct Browser: Sendable {
    private var server: TestServer
    public private(set) var cookies: [String: String] = [:]

    public init(_ server: TestServer) { self.server = server }

    /// The session cookie, under either of its names.
    public var session: String? { cookies["spindle_session"] ?? cookies["__Host-spindle_session"] }

    /// Sends the next requests to another node, as a load balancer may.
    public mutating func move(to node: TestServer) { server = node }

    /// Opens an address, as if it was typed.
    public mutating func open(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
        let answer = keep(try await server.get(path, cookies: cookies, headers: headers))
        guard let location = answer.header("location"), location.contains("cookie_check=1") else { return answer }
        return keep(try await server.get(location, cookies: cookies, headers: headers))
    }

    /// Follows a link on one of the server's own pages, with the headers that browsers send.
    public mutating func follow(_ path: String) async throws -> Answer {
        try await open(path, headers: ["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"])
    }

    /// Drops the session cookie, as a closed browser does. Other cookies stay.
    public mutating func forgetSession() {
        cookies["spindle_session"] = nil
        cookies["__Host-spindle_session"] = nil
    }

    /// Submits the form of `page` with `fields` over its hidden ones. `action` is the address of a button that has its
    /// own.
    public mutating func submit(
        _ page: Answer, _ fields: [String: String] = [:], to action: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        guard let action = action ?? page.formAction else {
            throw Answer.Missing(member: "form", answer: page.description)
        }
        let form = page.fields.merging(fields) { $1 }.sorted { $0.key < $1.key }
        let answer = keep(
            try await server.post(action, form: form.map { ($0.key, $0.value) }, cookies: cookies, headers: headers))
        guard let location = answer.header("location"), location.contains("?verification=") else { return answer }
        return try await open(location, headers: headers)
    }

    /// Signs in at the login page.
    @discardableResult
    public mutating func signIn(
        as email: String = World.email, password: String = World.password
    ) async throws -> Answer {
        try await submit(try await open("/login"), ["email": email, "password": password])
    }

    /// Whether `/login` says that a user is signed in.
    public mutating func isSignedIn() async throws -> Bool {
        try await open("/login").body.contains("You are signed in")
    }

    private mutating func keep(_ answer: Answer) -> Answer {
        for (name, value) in answer.headers where name.lowercased() == "set-cookie" {
            guard let pair = value.split(separator: ";").first else { continue }
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { continue }
            cookies[String(halves[0])] = halves[1].isEmpty ? nil : String(halves[1])
        }
        return answer
    }
}
