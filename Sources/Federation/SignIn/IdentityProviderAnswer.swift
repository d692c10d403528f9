import JSON

/// The authorization response of another issuer (RFC 6749 §4.1.2, RFC 9207 §2). Nothing in it is verified yet.
public struct IdentityProviderAnswer: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case code(String)
        /// The issuer's error code.
        case error(String)
    }

    private static let longestCode = 4096

    let outcome: Outcome
    /// The `iss` of the response, if it has one.
    let issuer: String?
    /// The user's name, which only Apple sends, and only at the first sign-in.
    let names: [JSON.Member]

    /// Reads the parameters of a response. Nil unless they contain either a code or an error, once.
    public init?(_ pairs: [(name: String, value: String)]) {
        func values(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
        let (codes, errors, issuers) = (values("code"), values("error"), values("iss"))
        guard codes.count <= 1, errors.count <= 1, issuers.count <= 1 else { return nil }
        if let error = errors.first {
            guard (1...100).contains(error.utf8.count), error.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                return nil
            }
            outcome = .error(error)
        } else {
            guard let code = codes.first, (1...Self.longestCode).contains(code.utf8.count) else { return nil }
            outcome = .code(code)
        }
        issuer = issuers.first
        names = values("user").first.map(Self.names(ofApples:)) ?? []
    }

    private static func names(ofApples user: String) -> [JSON.Member] {
        let name = (try? JSON(parsing: Array(user.utf8)))?["name"]
        var described = ProviderUser()
        let parts = [name?["firstName"]?.string, name?["lastName"]?.string].compactMap(\.self)
        described.take("name", .string(parts.joined(separator: " ")))
        described.take("given_name", name?["firstName"])
        described.take("family_name", name?["lastName"])
        return described.profile
    }
}
