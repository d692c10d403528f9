import Foundation
public import JSON

/// A response of the server.
public struct Answer: Sendable, CustomStringConvertible {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: String

    /// The body as JSON; null when it is not JSON.
    public var json: JSON { (try? JSON(parsing: Array(body.utf8))) ?? .null }
    public var error: String? { json["error"]?.string }
    public var isPage: Bool { header("content-type") == "text/html; charset=utf-8" }

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The whole `Set-Cookie` value of a cookie.
    public func setCookie(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == "set-cookie" && $0.value.hasPrefix("\(name)=") }?.value
    }

    /// The body as it reads, without the marks where a line may break.
    public var words: String { body.replacing("<wbr>", with: "") }

    /// The value of a cookie that the response sets.
    public func cookie(_ name: String) -> String? {
        guard let pair = setCookie(name)?.split(separator: ";").first else { return nil }
        return String(pair.dropFirst(name.count + 1))
    }

    /// The value of a parameter in the query of the redirect location.
    public func redirected(_ name: String) -> String? {
        guard let location = header("location"), let query = location.split(separator: "?", maxSplits: 1).last else {
            return nil
        }
        for pair in query.split(separator: "&") where pair.hasPrefix("\(name)=") {
            return String(pair.dropFirst(name.count + 1)).removingPercentEncoding
        }
        return nil
    }

    /// The hidden fields of the page's form.
    public var fields: [String: String] {
        var fields: [String: String] = [:]
        for tag in body.split(separator: "<") where tag.contains("type=\"hidden\"") {
            guard let name = Self.attribute("name", of: tag) else { continue }
            fields[name] = Self.attribute("value", of: tag) ?? ""
        }
        return fields
    }

    /// The address that the page's form is sent to.
    public var formAction: String? {
        body.split(separator: "<").first { $0.hasPrefix("form") }.flatMap { Self.attribute("action", of: $0) }
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        guard let start = tag.range(of: "\(name)=\"") else { return nil }
        let value = String(tag[start.upperBound...].prefix { $0 != "\"" })
        return value.replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&lt;", with: "<")
            .replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }

    public var description: String { "\(status) \(body)" }

    public struct Missing: Error { let member: String, answer: String }

    /// A string member of the body. Throws an error that shows the whole response when it is missing.
    public func require(_ member: String) throws -> String {
        guard let value = json[member]?.string else { throw Missing(member: member, answer: description) }
        return value
    }

    /// A parameter of the redirect location. Throws an error that shows the whole response when it is missing.
    public func requireRedirected(_ name: String) throws -> String {
        guard let value = redirected(name) else {
            throw Missing(member: name, answer: "\(description) \(header("location") ?? "without a location")")
        }
        return value
    }
}
