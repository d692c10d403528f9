public import Directory
import HTTP
import HTTPSupport
public import OAuth

/// Answers requests with an expired token of a SPiD-compatible client: SPiD's SDKs refresh a token after
/// `expired_token`, and take any other refusal for its end.
public struct ExpiredTokens: Sendable {
    private let tokens: AccessTokens
    private let clients: Clients

    public init(tokens: AccessTokens, clients: Clients) {
        self.tokens = tokens
        self.clients = clients
    }

    /// Which tokens get SPiD's refusal.
    enum Reach {
        /// Tokens known to be a SPiD-compatible client's, where any OpenID client asks.
        case known
        /// Also deleted tokens, whose client is unknown, at SPiD's own addresses. A forged token that looks as old gets
        /// the same answer, so the answer reveals nothing.
        case deletedToo
    }

    /// The response of `work`, or SPiD's refusal of the request's token.
    func answer(
        _ request: Request, _ context: SpindleContext, _ reach: Reach, form: OAuth.Parameters? = nil,
        _ work: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await work()
        } catch let refusal as OAuthError {
            guard let response = await response(to: refusal, request, reach, form: form) else { throw refusal }
            return response
        }
    }

    /// SPiD's refusal, if `refusal` is about a token of that kind. If that cannot be found out, the original refusal
    /// stays.
    func response(
        to refusal: OAuthError, _ request: Request, _ reach: Reach, form: OAuth.Parameters?
    ) async -> Response? {
        guard refusal.isOfExpiredToken, let query = try? request.query.parameters,
            let presented = try? PresentedToken.find(request.headers, form: form, query: query)
        else { return nil }
        do {
            if let id = try await tokens.client(of: presented.secret) {
                request.note(id)
                guard try await clients.findLive(id)?.may(.getSPiDAnswers) == true else { return nil }
            } else if reach == .known {
                return nil
            }
        } catch {
            return nil
        }
        return refusal.spidTokenResponse()
    }
}
