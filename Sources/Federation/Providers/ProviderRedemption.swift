import OAuth
import Storage
import Values

/// The claim on a provider's word: it is trusted still, the link is still there, and so is its person. Nothing is spent (`ProviderAssertion`
/// says why).
struct ProviderRedemption: Redemption {
    let holder: ProviderAssertions.Holder
    let user: UserID

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard try TrustedIssuers.stands(holder.trusted, in: db) else { return .changed }
        let link = try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db)
        return link == IssuerSubjects.Link(user: user, isDisabled: false, isLeaving: false) ? .won : .changed
    }
}
