import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's own backend (backend.py), which has an API and tokens of its own.
struct Backend {
    let address: URL
    /// The backend's id with SPiD, which the app names when it asks for codes.
    let clientID: String

    struct Session: Decodable { let token: String }

    struct Greeting: Decodable {
        let userId: String
        let name: String
    }

    /// A page of the backend's for web views.
    var page: URL { address.appending(path: "page") }

    func signIn(code: String) async throws -> Session {
        try await URLRequest(address.appending(path: "sign-in"), form: ["code": code]).json(Session.self)
    }

    func greeting(_ session: Session) async throws -> Greeting {
        try await URLRequest(address.appending(path: "greeting"), bearer: session.token).json(Greeting.self)
    }

    func logOut(_ session: Session) async throws {
        _ = try await URLRequest(address.appending(path: "log-out"), form: [:], bearer: session.token).data()
    }
}
