public import JOSE
import Foundation

/// What the server answered.
public struct Answer: Sendable, CustomStringConvertible {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: String

    /// The body as JSON; null when it is none.
    public var json: JSON { (try? JSON(parsing: Array(body.utf8))) ?? .null }
    public var error: String? { json["error"]?.string }

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The value of a cookie that it sets.
    public func cookie(_ name: String) -> String? {
        headers.filter { $0.name.lowercased() == "set-cookie" }
            .compactMap { $0.value.split(separator: ";").first?.split(separator: "=", maxSplits: 1) }
            .first { $0[0] == name }
            .map { $0.count > 1 ? String($0[1]) : "" }
    }

    /// The value of a parameter in the query of the address it redirects to.
    public func redirected(_ name: String) -> String? {
        header("location")?.split(separator: "?", maxSplits: 1).last?.split(separator: "&")
            .map { $0.split(separator: "=", maxSplits: 1) }
            .first { $0[0] == name }
            .map { $0.count > 1 ? (String($0[1]).removingPercentEncoding ?? "") : "" }
    }

    /// The value of a form's hidden field.
    public func field(_ name: String) -> String? {
        guard let tag = body.split(separator: "<").first(where: { $0.contains("name=\"\(name)\"") }),
            let value = tag.split(separator: "value=\"").last
        else { return nil }
        return value.split(separator: "\"", omittingEmptySubsequences: false).first
            .map { $0.replacing("&amp;", with: "&").replacing("&#43;", with: "+").replacing("&#61;", with: "=") }
    }

    public var description: String { "\(status) \(body)" }
}
