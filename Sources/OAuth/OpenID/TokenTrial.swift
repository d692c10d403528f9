import Directory
import JSON
import Values

/// What a developer tries out with the tokens of one authorization (`spindle serve --dev`).
public struct TokenTrial: Sendable, Equatable {
    /// What its ID tokens live, where that is not the client's own setting.
    public let idTokenLifetime: Duration?
    public let givesRefreshToken: Bool

    /// The seconds an ID token may live: less than any client may ask for, so that one can be seen to expire.
    public static let lifetimes = 1...OpenIDSettings.longestJWT.seconds

    /// Nil for a lifetime that is none.
    public init?(idTokenLifetime: Duration? = nil, givesRefreshToken: Bool = true) {
        guard idTokenLifetime.map({ Self.lifetimes.contains($0.seconds) }) ?? true else { return nil }
        self.idTokenLifetime = idTokenLifetime
        self.givesRefreshToken = givesRefreshToken
    }
}

extension TokenTrial {
    /// As it is kept with a code and a permission.
    var text: String {
        JSON.members([
            "id_token_lifetime": idTokenLifetime.map { .integer($0.seconds) },
            "refresh_token": .bool(givesRefreshToken),
        ]).text
    }

    init?(stored text: String) {
        guard let json = try? JSON(stored: text) else { return nil }
        self.init(
            idTokenLifetime: json["id_token_lifetime"]?.integer.map { .seconds($0) },
            givesRefreshToken: json["refresh_token"]?.bool ?? true)
    }
}
