import Foundation

/// Something came out otherwise than the guide says.
struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Where everything is, from the environment.
struct Settings {
    let spid: SPiD
    let backend: Backend
    let username: String
    let password: String
    /// A Facebook user and the secret that signs the app's statement; nil without a Facebook.
    let facebook: (person: Assertion, signSecret: String)?

    init(_ environment: [String: String]) throws {
        func value(_ name: String) throws -> String {
            guard let value = environment[name] else { throw Unexpected("\(name) is not set") }
            return value
        }
        func address(_ name: String) throws -> URL {
            guard let url = URL(string: try value(name)) else { throw Unexpected("\(name) is no URL") }
            return url
        }
        spid = SPiD(
            server: try address("SPID_SERVER"), clientID: try value("SPID_CLIENT_ID"),
            clientSecret: try value("SPID_CLIENT_SECRET"))
        backend = Backend(address: try address("BACKEND"), clientID: try value("BACKEND_CLIENT_ID"))
        username = try value("USERNAME")
        password = try value("PASSWORD")
        facebook = try environment["FACEBOOK_TOKEN"].map { token in
            let person = Assertion(
                facebookApp: try value("FACEBOOK_APP"), facebookToken: token, expires: Date(timeIntervalSinceNow: 3600))
            return (person, try value("SPID_SIGN_SECRET"))
        }
    }
}

/// The phone's browser, which is not the app's: an `ASWebAuthenticationSession`. Here the address goes to the standard
/// output, and the person at the terminal types where the browser ended up.
enum Browser {
    /// The query of the app's own address to which the browser came back.
    static func open(_ address: URL) throws -> [String: String] {
        tell("browser: \(address)")
        guard let line = readLine(), let back = URLComponents(string: line) else {
            throw Unexpected("the browser did not come back")
        }
        let items = back.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}

/// Unlike `print`, at once: who reads along may have to answer.
func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

func step(_ title: String) { tell("\n\(title)") }

func expect(_ condition: Bool, _ what: String) throws {
    guard condition else { throw Unexpected("it is not so that \(what)") }
    tell("   ✓ \(what)")
}

/// Expects `call` to be refused with this status and, if one is given, by this name.
func expectRefusal<Answer>(
    _ what: String, _ status: Int, _ error: String? = nil, _ call: () async throws -> Answer
) async throws {
    do {
        _ = try await call()
    } catch let refusal as Refusal where refusal.status == status && (error == nil || refusal.error == error) {
        return try expect(true, what)
    }
    throw Unexpected("it is not so that \(what)")
}

extension WebView.NewSession {
    var text: String {
        guard case .page(_, let text) = self else { return "" }
        return text
    }
}

extension String {
    /// What a page has between `<h1>` and `</h1>`.
    var heading: String { firstMatch(of: /<h1>(.*?)<\/h1>/).map { String($0.1) } ?? "" }
}
