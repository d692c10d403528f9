public import Directory
public import Values

extension PasswordSignIn {
    /// Proves that the user of the session knows its password. Asked before actions that an unattended screen must not
    /// allow. Throttled like any sign-in.
    public func confirm(
        _ session: Session, password: String, address: String, device: Secret<Device>? = nil
    ) async throws -> Proof {
        guard let email = session.email else { throw Refusal.wrong(reason: "no_password") }
        let proof = try await check(username: email, password: password, address: address, device: device)
        guard proof.user == session.user else { throw Refusal.wrong(reason: "another_account") }
        return proof
    }
}
