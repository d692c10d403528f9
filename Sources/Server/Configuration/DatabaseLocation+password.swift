import Text
import Values

extension DatabaseLocation {
    /// Whether the URL has a password, or a malformed user part that may contain one.
    var hasPassword: Bool {
        guard case .postgreSQL(let url) = self else { return false }
        // The URL may name several hosts, which no URI may.
        let text = Array(url.value.utf8.drop { $0 != Self.slash }.drop { $0 == Self.slash })
        let user = Self.user(in: text)
        let query = text[user.endIndex...].drop { $0 != UInt8(ascii: "?") }.dropFirst()
        let secrets = ["password", "sslpassword"]
        return user.contains(UInt8(ascii: ":"))
            || query.split(separator: UInt8(ascii: "&")).contains { Self.names($0, among: secrets) }
    }

    private static let slash = UInt8(ascii: "/")
    private static let at = UInt8(ascii: "@")

    /// The text before the last `@` outside the query. The query begins after the first `@`, because libpq takes a `?`
    /// before that for a part of the password. A `/` before the `@` belongs to the path, or to a password that libpq
    /// misreads.
    private static func user(in text: [UInt8]) -> ArraySlice<UInt8> {
        let start = text.prefix { $0 != slash }.firstIndex(of: at) ?? 0
        let end = text[start...].firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        return text[..<(text[..<end].lastIndex(of: at) ?? 0)]
    }

    /// Whether `pair` sets one of the parameters `names`. libpq decodes their names.
    private static func names(_ pair: ArraySlice<UInt8>, among names: [String]) -> Bool {
        let name = PercentEncoding.decode(pair.prefix { $0 != UInt8(ascii: "=") })
        return names.contains { name == Array($0.utf8) }
    }
}
