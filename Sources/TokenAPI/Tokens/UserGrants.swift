import Authentication
import Cryptography
import Directory
import HTTPSupport
import OAuth
import Values

extension PasswordGrant {
    /// Connects OAuth and Authentication, which do not know each other.
    init(signingInWith signIn: PasswordSignIn, clock: any WallClock, random: any RandomSource) {
        self.init { username, password, request, client in
            do {
                let login = Login.Attempt(
                    id: .random(from: random), client: client.id, kind: .api, address: request.address,
                    userAgent: request.userAgent)
                let proof = try await signIn.check(
                    username: username, password: password, address: request.address, login: login,
                    client: client)
                guard proof.leaving == nil else { throw OAuthError.wrongUserCredentials("deletion_pending") }
                return Proof(
                    user: proof.user, signIn: SignIn(at: clock.now, by: .password), isVerified: proof.isVerified,
                    holds: proof.holds)
            } catch let refusal as PasswordSignIn.Refusal {
                throw refusal.oauthError
            }
        }
    }
}

extension PasswordlessGrant {
    init(_ passwordless: Passwordless, clock: any WallClock, random: any RandomSource) {
        self.init { returned, request, client in
            guard let token = PasswordlessToken(returned.token),
                let recipient = try await passwordless.recipient(of: token, at: client)
            else { throw OAuthError.passwordlessRefused("passwordless_token_dead") }
            // The token identifies the user, not this value. But an app that expects another user must not get tokens.
            guard returned.identifier.map({ recipient.isMeant(by: $0) }) ?? true else {
                throw OAuthError.passwordlessRefused("another_identifier")
            }
            let login = Login.Attempt(
                id: .random(from: random), client: client.id, kind: .api, address: request.address,
                userAgent: request.userAgent)
            switch try await passwordless.finish(
                token, code: returned.code, of: recipient, at: client, login: login)
            {
            case .success(let proof):
                return PasswordGrant.Proof(
                    user: proof.user, signIn: SignIn(at: clock.now, by: proof.method), isVerified: proof.isVerified,
                    holds: proof.holds)
            case .failure(.tooMany(let wait)): throw OAuthError.tooManySignIns(wait)
            case .failure(.gone(let reason)): throw OAuthError.passwordlessRefused(reason)
            case .failure(.unknown): throw OAuthError.passwordlessRefused("passwordless_token_dead")
            case .failure(.wrongCode): throw OAuthError.passwordlessRefused("wrong_code")
            }
        }
    }
}

extension OAuthError {
    /// The same for a wrong code, a dead token and an address or number without a user: the requester must not learn
    /// which it is.
    fileprivate static func passwordlessRefused(_ reason: String) -> OAuthError {
        OAuthError(.invalidGrant, reason, "The code or the passwordless_token is wrong, used or too old.")
    }
}
