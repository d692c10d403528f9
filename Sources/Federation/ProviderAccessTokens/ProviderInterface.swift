import Directory
import JSON
import OAuth
import Outbound
import Values

/// A provider's web API.
struct ProviderInterface: Sendable {
    /// In bytes: ten times more than any provider says about a token or a user.
    private static let longestAnswer = 64 * 1024

    let provider: Provider
    /// Has no slash at its end.
    let address: String
    let outbound: Outbound

    /// The merchant and the client that a request is made for.
    struct Requester {
        let merchant: Merchant.ID
        /// Nil for users who sign in at the provider in a browser.
        let client: Client.ID?
    }

    struct Answer {
        let isRefusal: Bool
        let json: JSON
    }

    /// Requests `path`. The query contains secrets, so neither the query nor the response goes into an error or a log.
    ///
    /// An answer is a JSON object with status 200, or with 400, 401 or 403 when the provider refuses the token.
    /// Anything else, including rate limiting, is no answer.
    func ask(
        _ path: String, _ query: KeyValuePairs<String, String>, by requester: Requester
    ) async throws(OAuthError) -> Answer {
        let response: OutboundResponse
        do {
            response = try await outbound.asking(
                for: purpose, by: requester.merchant.text, part: requester.client?.text ?? "browsers"
            )
            .get(address + path, query: query, limit: Self.longestAnswer)
        } catch {
            throw .providerUnavailable(provider, "\(error)")
        }
        guard [200, 400, 401, 403].contains(response.status) else {
            throw .providerUnavailable(provider, "answered with status \(response.status)")
        }
        guard let json = try? JSON(parsing: response.body), json.members != nil else {
            throw .providerUnavailable(provider, "answered with status \(response.status) and no JSON object")
        }
        return Answer(isRefusal: response.status != 200, json: json)
    }

    /// Each provider has its own quota, so that a slow one does not hold up the other.
    private var purpose: OutboundPurpose {
        switch provider {
        case .facebook: .facebook
        case .google: .google
        case .apple: .other
        }
    }

    /// The provider's identifier of a user, if it can be stored.
    static func subject(_ json: JSON?) -> String? {
        guard let text = json?.string ?? json?.integer.map(String.init) else { return nil }
        return (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
    }
}
