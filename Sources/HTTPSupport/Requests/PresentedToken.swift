import Cryptography
package import Directory
package import HTTP
package import OAuth
package import Values

extension ClientCredentials {
    /// The client of a request with `parameters` in its body.
    package static func read(_ request: Request, _ parameters: OAuth.Parameters) throws(OAuthError) -> ClientCredentials
    {
        try read(parameters, at: request.target.path, basic: try basic(request))
    }

    /// The client that a request names, however invalid the rest of it is.
    package static func named(_ request: Request, _ form: Form) -> Client.ID? {
        (try? form.parameters).flatMap { try? read(request, $0).id }
            ?? (try? basic(request))?.id ?? form[Parameter.clientID.rawValue].map { Client.ID($0) }
    }

    /// The pair of a Basic header, if there is one that can be read.
    package static func ofHeader(_ request: Request) -> ClientCredentials? { (try? basic(request)) ?? nil }

    /// The pair of a Basic header: id and secret are form-encoded inside (RFC 6749 §2.3.1).
    private static func basic(_ request: Request) throws(OAuthError) -> ClientCredentials? {
        let headers = request.headers[values: .authorization]
        guard let header = headers.first else { return nil }
        guard headers.count == 1 else { throw .twoCredentials }
        let field = AuthorizationField(header)
        // A bearer token does not authenticate a client at the token endpoint; it becomes "no client".
        guard field.isOf("basic") else { return nil }
        guard let pair = Base64.decode(field.credentials) else { throw .malformedBasic }
        guard let colon = pair.firstIndex(of: UInt8(ascii: ":")), colon > 0, let id = Form.decode(pair[..<colon]),
            let secret = Form.decode(pair[(colon + 1)...])
        else { throw .malformedBasic }
        guard id.isStreamSafe, secret.isStreamSafe else { throw .tooManyMarks }
        return ClientCredentials(id: Client.ID(id), secret: secret.isEmpty ? nil : Secret(secret))
    }
}

/// A bearer token and where it was in the request (RFC 6750 §2).
package struct PresentedToken {
    package let secret: Secret<AccessToken>
    package let wasInQuery: Bool
    var wasInBody = false
    /// Whether the token was sent twice, as SPiD's SDKs do.
    fileprivate var wasSentTwice = false

    /// The one token of a request: from the header, the form or the query. More than one is a malformed request.
    package static func read(_ request: Request, form: OAuth.Parameters? = nil) throws(OAuthError) -> PresentedToken? {
        let presented = try find(request.headers, form: form, query: try request.query.parameters)
        guard presented?.wasSentTwice != true else { throw .twoTokens }
        return presented
    }

    /// As above, but accepts one token in both query and body, as SPiD's SDKs send it; with `mayRepeatField` also in
    /// two equal Authorization fields. The caller, who knows the client, decides whether that is allowed.
    package static func find(
        _ headers: Fields, form: OAuth.Parameters?, query: OAuth.Parameters?, mayRepeatField: Bool = false
    ) throws(OAuthError) -> PresentedToken? {
        var found: [PresentedToken] = []
        let fields = headers[values: .authorization]
        let isRepeated = mayRepeatField && fields.count == 2 && fields[0] == fields[1]
        for header in isRepeated ? fields.suffix(1) : fields[...] {
            let field = AuthorizationField(header)
            guard field.isOf("bearer"), !field.credentials.isEmpty, !field.credentials.contains(" ") else { continue }
            found.append(
                PresentedToken(secret: Secret(String(field.credentials)), wasInQuery: false, wasSentTwice: isRepeated))
        }
        // RFC 6750 §2.2, and SPiD's name for it.
        for text in [form?[.accessToken], form?[.oauthToken]].compactMap(\.self) {
            found.append(PresentedToken(secret: Secret(text), wasInQuery: false, wasInBody: true))
        }
        if let text = query?[.oauthToken] {
            let isSaidAgain = found.count == 1 && found[0].wasInBody && found[0].secret.value == text
            if isSaidAgain { found.removeLast() }
            found.append(PresentedToken(secret: Secret(text), wasInQuery: true, wasSentTwice: isSaidAgain))
        }
        guard found.count <= 1 else { throw .twoTokens }
        return found.first
    }
}

extension OAuthError {
    fileprivate static let twoTokens = OAuthError(
        .invalidRequest, "two_tokens",
        "The access token was sent more than once: send it in one way only (RFC 6750 "
            + "2).")
}

extension AccessTokens {
    /// The live token of a request, with this server as its audience. `inQuery`: this call accepts the token in the
    /// URL, from any client.
    package func require(
        _ request: Request, form: OAuth.Parameters? = nil, inQuery: Bool = false
    ) async throws -> AccessToken {
        let query = try request.query.parameters
        guard let presented = try PresentedToken.find(request.headers, form: form, query: query) else {
            throw OAuthError.noToken(in: request)
        }
        return try await require(presented, of: request, inQuery: inQuery)
    }

    /// The live token in the header of a request, which is the only place where the caller looks for it.
    package func requireInHeader(_ request: Request) async throws -> AccessToken {
        guard let presented = try PresentedToken.find(request.headers, form: nil, query: nil) else {
            throw OAuthError.noToken(in: request)
        }
        return try await require(presented, of: request)
    }

    /// The live token for `presented`, which came with `request`.
    package func require(
        _ presented: PresentedToken?, of request: Request, inQuery: Bool = false
    ) async throws -> AccessToken {
        guard let presented else { throw OAuthError.noToken }
        let token = try await present(presented.secret)
        request.note(token)
        guard !presented.wasSentTwice || token.may(.sendTokensInURLs) else { throw OAuthError.twoTokens }
        // RFC 6750 §5.3: a token in a URL ends up in logs and histories. Only SPiD's SDKs cannot avoid that.
        guard !presented.wasInQuery || token.may(.sendTokensInURLs) || inQuery else {
            throw OAuthError(
                .invalidToken, "token_in_query", "Send the access token in the Authorization header, not in the URL.")
        }
        try token.requireUs()
        return token
    }
}

extension OAuthError {
    /// The refusal of a request without a token where one is looked for. It says so if there seems to be one elsewhere,
    /// and repeats nothing of that.
    fileprivate static func noToken(in request: Request) -> OAuthError {
        if let header = request.headers[values: .authorization].first {
            guard AuthorizationField(header).isOf("bearer") else {
                return noToken("The Authorization header must begin with 'Bearer ', followed by the access token")
            }
            return noToken("The Authorization header needs one text without blanks after 'Bearer '")
        }
        let query = (try? request.query.parameters)
        guard query?[.accessToken] == nil, query?[.oauthToken] == nil else {
            return noToken("One in the URL does not count: send it in the Authorization header, after 'Bearer '")
        }
        return noToken
    }
}

/// An `Authorization` field: its scheme, and the credentials after it (RFC 9110 §11.4).
package struct AuthorizationField {
    private let scheme: Substring
    package let credentials: Substring

    /// `1*SP` is between the two; a scheme alone has no credentials.
    package init(_ text: String) {
        scheme = text.prefix { $0 != " " }
        credentials = text.dropFirst(scheme.count).drop { $0 == " " }
    }

    /// Whether it is of `scheme`, in any case (§11.1).
    package func isOf(_ scheme: String) -> Bool { self.scheme.lowercased() == scheme }
}
