import Authentication
import Cryptography
import Directory
import HTTPSupport
import OAuth
import Values

extension PasswordGrant {
    /// Where OAuth and Authentication meet, which do not know each other.
    init(signingInWith signIn: SignIn, clock: any WallClock, random: any RandomSource) {
        self.init { username, password, request, client in
            do {
                let login = Login.Attempt(
                    id: .random(from: random), client: client.id, kind: .api, address: request.address,
                    userAgent: request.userAgent)
                let proof = try await signIn.check(
                    username: username, password: password, address: request.address, login: login,
                    client: client)
                guard proof.leaving == nil else { throw OAuthError.wrongUserCredentials("deletion_pending") }
                let subject = Subject(
                    user: proof.user, signedInAt: clock.now, method: Session.Method.password.rawValue)
                return Proof(subject: subject, isVerified: proof.isVerified, holds: proof.holds)
            } catch let refusal as SignIn.Refusal {
                throw refusal.oauthError
            }
        }
    }
}
