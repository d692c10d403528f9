/// The response type of an authorization request (RFC 6749 §3.1.1, OAuth 2.0 Multiple Response Type Encoding
/// Practices).
public struct ResponseType: OptionSet, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let code = ResponseType(rawValue: 1)
    public static let idToken = ResponseType(rawValue: 2)
    public static let token = ResponseType(rawValue: 4)

    /// Only returns the browser, under the name `none` (Multiple Response Type Encoding Practices §4).
    public static let nothing: ResponseType = []

    /// All response types, in the order of their publication.
    public static let all: [ResponseType] = [
        .code, .idToken, [.idToken, .token], [.code, .idToken], [.code, .token], [.code, .idToken, .token], .token,
        .nothing,
    ]

    private static let words: [(ResponseType, String)] = [(.code, "code"), (.idToken, "id_token"), (.token, "token")]

    /// Reads words in any order, each at most once.
    public init?(_ text: String) {
        guard text != Self.nothing.description else {
            self = .nothing
            return
        }
        var type: ResponseType = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let found = Self.words.first(where: { $0.1 == word })?.0, type.insert(found).inserted else {
                return nil
            }
        }
        guard !type.isEmpty else { return nil }
        self = type
    }

    public var description: String {
        isEmpty ? "none" : Self.words.filter { contains($0.0) }.map(\.1).joined(separator: " ")
    }

    /// Whether the authorization response itself carries tokens: then it must not be in a query.
    public var isDirect: Bool { !isDisjoint(with: [.idToken, .token]) }
}
