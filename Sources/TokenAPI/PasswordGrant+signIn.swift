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
