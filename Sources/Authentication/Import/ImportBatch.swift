import Directory
import Values

/// Lines that are stored together: none of them is in another's way.
struct ImportBatch {
    private(set) var users: [ImportedUser] = []
    private var taken: Set<String> = []

    func takes(_ user: ImportedUser) -> Bool { taken.isDisjoint(with: user.claims) }

    mutating func add(_ user: ImportedUser) {
        users.append(user)
        taken.formUnion(user.claims)
    }
}

/// What a rehearsal would have stored.
struct ImportRehearsal {
    private var stored: Set<String> = []

    /// The outcome for `user` after the lines before, where the database alone would say `outcome`.
    mutating func outcome(_ outcome: ImportOutcome, of user: ImportedUser) -> ImportOutcome {
        guard case .imported = outcome else { return outcome }
        if stored.contains(user.emailClaim) { return .existing(user.id, subject: nil) }
        if stored.contains(user.idClaim) { return .refused(.taken("user_id")) }
        if let claim = user.subjectClaim, stored.contains(claim) { return .refused(.taken("sub")) }
        guard stored.isDisjoint(with: user.identityClaims) else { return .refused(.taken("identities")) }
        stored.formUnion(user.claims)
        return outcome
    }
}

/// What no two users may have.
extension ImportedUser {
    fileprivate var emailClaim: String { "email \(email.text)" }
    fileprivate var idClaim: String { "id \(id)" }
    fileprivate var subjectClaim: String? { subject.map { "sub \($0)" } }
    fileprivate var identityClaims: [String] { identities.map { "at \($0.issuer) \($0.subject)" } }
    fileprivate var claims: [String] { [emailClaim, idClaim] + [subjectClaim].compactMap(\.self) + identityClaims }
}
