import JSON
import OAuth

/// A request of Ditto, in either of its forms: the old one with `appID`, version 1 with `databaseID`.
struct DittoRequest: Sendable {
    let provider: String
    /// The app or database that the user wants to access.
    let database: String
    /// The token that the app gave Ditto to pass on.
    let token: String

    init(_ body: [UInt8]) throws(OAuthError) {
        let json: JSON
        do {
            json = try JSON(parsing: body)
        } catch {
            throw Self.malformed("it must be JSON: \(error)".replacing("\"", with: "'"))
        }
        guard json.members != nil else { throw Self.malformed("it must be a JSON object") }
        provider = try Self.text("provider", json)
        token = try Self.text("token", json)
        switch (json["appID"], json["databaseID"]) {
        case (nil, nil): throw Self.malformed("databaseID or appID is missing")
        case (_?, nil): database = try Self.text("appID", json)
        case (nil, _?): database = try Self.text("databaseID", json)
        case (_?, _?): throw Self.malformed("it has both databaseID and appID")
        }
        guard json["version"].map({ $0 == "1" }) ?? true else { throw Self.malformed("version must be the text 1") }
    }

    private static func text(_ name: String, _ json: JSON) throws(OAuthError) -> String {
        guard let text = json[name]?.string, !text.isEmpty else { throw malformed("\(name) must be a text") }
        return text
    }

    private static func malformed(_ what: String) -> OAuthError {
        OAuthError(.invalidRequest, "ditto_request", "The body is not what Ditto sends: \(what).")
    }
}
