import Directory
import JSON
import Values

/// A developer's trial settings for the tokens of one authorization (`spindle serve --dev`).
public struct TokenTrial: Sendable, Equatable {
    /// The lifetime of the ID tokens; nil for the client's own setting.
    public let idTokenLifetime: Duration?
    public let givesRefreshToken: Bool

    /// The range of lifetimes in seconds. It begins lower than a client's setting may, so that developers can watch a
    /// token expire.
    public static let lifetimes = 1...OpenIDSettings.longestJWT.seconds

    /// Nil for a lifetime out of range.
    public init?(idTokenLifetime: Duration? = nil, givesRefreshToken: Bool = true) {
        guard idTokenLifetime.map({ Self.lifetimes.contains($0.seconds) }) ?? true else { return nil }
        self.idTokenLifetime = idTokenLifetime
        self.givesRefreshToken = givesRefreshToken
    }
}

extension TokenTrial {
    /// The text that is stored with a code and a token family.
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
