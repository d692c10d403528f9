public import Directory
import JSON
public import OAuth
public import Values

/// Makes ID tokens: reads what they need; `IDToken` decides the content.
public struct IDTokens: Sendable {
    private let issuer: String
    private let signers: IDTokenSigners
    private let names: SubjectIdentifiers
    private let claims: UserClaims

    public init(issuer: String, signers: IDTokenSigners, names: SubjectIdentifiers, claims: UserClaims) {
        self.issuer = issuer
        self.signers = signers
        self.names = names
        self.claims = claims
    }

    /// An ID token that is ready to be signed, with its signer.
    public struct Draft: Sendable {
        let signer: IDTokenSigner
        let token: @Sendable (Timestamp) -> IDToken

        /// Signs the token, with the hashes of what is issued along with it.
        public func signed(at now: Timestamp, accessToken: String? = nil, code: String? = nil) -> String {
            var token = token(now)
            token.accessToken = accessToken
            token.code = code
            return token.signed(by: signer)
        }
    }

    /// Reads what is needed. `carriesScope`: whether it carries the claims of the scope.
    public func draft(
        of subject: Subject, for client: Client, scope: Scope, asked: AuthenticationRequest, carriesScope: Bool
    ) async throws -> Draft {
        let signer = try await signers.current(for: client)
        let name = try await names.subject(subject.user, for: client)
        var session: String?
        if let id = subject.session { session = try await names.session(id, for: client) }
        let claims = try await claims.ofIDToken(
            subject.user, for: client, scope: scope,
            carriesScope: carriesScope, asked.claims)
        let (issuer, sessionName) = (issuer, session)
        return Draft(signer: signer) { now in
            IDToken(
                issuer: issuer, subject: name, client: client.id, issuedAt: now,
                lifetime: asked.idTokenLifetime(of: client), signedInAt: subject.signedInAt, method: subject.method,
                nonce: asked.nonce, session: sessionName, accessToken: nil, code: nil, claims: claims)
        }
    }
}
