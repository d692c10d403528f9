import Cryptography
import JOSE
import JSON
import Text
import Values

/// The key that Apple gives a team of developers. It signs our client secret at Apple, for a few minutes at a time.
struct AppleKey: Sendable {
    /// Apple accepts half a year, but a new secret is made for each request.
    private static let lifetime: Duration = .minutes(5)

    let team: String
    let id: String
    private let key: PrivateKey

    /// - Parameter file: the file that Apple offers for download: PKCS #8 in PEM (RFC 7468 §10). Nil for anything else.
    init?(team: String, id: String, file: String) {
        let lines = file.split { $0.isNewline }.map { $0.trimmingScalars(while: \.isBlank) }
        guard lines.first == "-----BEGIN PRIVATE KEY-----", lines.last == "-----END PRIVATE KEY-----",
            let bytes = Base64.decode(lines.dropFirst().dropLast().joined()),
            let key = try? PrivateKey(pkcs8: bytes, algorithm: .es256)
        else { return nil }
        self.team = team
        self.id = id
        self.key = key
    }

    /// Our secret as the client `client`, for the next minutes.
    func secret(of client: String, at now: Timestamp) -> Secret<SignInSettings> {
        let claims = JSON.members([
            "iss": .string(team), "iat": .integer(now.seconds), "exp": .integer((now + Self.lifetime).seconds),
            "aud": .string(Provider.apple.issuer), "sub": .string(client),
        ])
        return Secret(CompactJWS.sign(claims, type: "JWT", key: key, keyID: id))
    }
}

extension AppleKey {
    /// The text to seal and store.
    static func stored(team: String, id: String, file: String) -> String {
        JSON.members(["team_id": .string(team), "key_id": .string(id), "private_key": .string(file)]).text
    }

    /// Nil when a secret of another kind is stored.
    init?(stored text: String) {
        guard let json = try? JSON(parsing: Array(text.utf8)), let team = json["team_id"]?.string,
            let id = json["key_id"]?.string, let file = json["private_key"]?.string
        else { return nil }
        self.init(team: team, id: id, file: file)
    }
}
