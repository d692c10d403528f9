import Directory
import Values

/// Lines that are stored together, because they do not conflict with each other.
struct ImportBatch {
    private(set) var users: [ImportedUser] = []
    private var taken: Set<String> = []

    func takes(_ user: ImportedUser) -> Bool { taken.isDisjoint(with: user.claims) }

    mutating func add(_ user: ImportedUser) {
        users.append(user)
        taken.formUnion(user.claims)
    }
}

/// What a rehearsal would have stored. It remembers hashes, not texts: a file may have millions of lines.
struct ImportRehearsal {
    private var stored: Set<Int> = []

    /// The outcome for `user` after the earlier lines, where the database alone would say `outcome`.
    mutating func outcome(_ outcome: ImportOutcome, of user: ImportedUser) -> ImportOutcome {
        guard case .imported = outcome else { return outcome }
        func has(_ claims: [String]) -> Bool { claims.contains { stored.contains($0.hashValue) } }
        if has([user.emailClaim]) { return .existing(user.id, subject: nil) }
        if has(user.idClaim) { return .refused(.taken("user_id")) }
        if has(user.subjectClaim) { return .refused(.taken("sub")) }
        guard !has(user.identityClaims) else { return .refused(.taken("identities")) }
        stored.formUnion(user.claims.map(\.hashValue))
        return outcome
    }
}

/// The values that must be unique among users.
extension ImportedUser {
    fileprivate var emailClaim: String { "email \(email.text)" }
    /// A newly made number cannot collide.
    fileprivate var idClaim: [String] { keepsID ? ["id \(id)"] : [] }
    fileprivate var subjectClaim: [String] { subject.map { ["sub \($0)"] } ?? [] }
    fileprivate var identityClaims: [String] { identities.map { "at \($0.issuer) \($0.subject)" } }
    fileprivate var claims: [String] { [emailClaim] + idClaim + subjectClaim + identityClaims }
}
