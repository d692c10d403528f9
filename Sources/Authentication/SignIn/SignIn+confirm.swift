public import Directory
public import Values

extension SignIn {
    /// The proof that whoever sits before `session` knows its person's password: asked before what an unattended screen
    /// must not allow. Throttled as any sign-in.
    public func confirm(
        _ session: Session, password: String, address: String, device: Secret<Device>? = nil
    ) async throws -> Proof {
        guard let email = session.email else { throw Refusal.wrong(reason: "no_password") }
        let proof = try await check(username: email, password: password, address: address, device: device)
        guard proof.user == session.user else { throw Refusal.wrong(reason: "another_account") }
        return proof
    }
}
