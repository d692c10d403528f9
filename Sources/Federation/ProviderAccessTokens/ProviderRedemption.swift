import OAuth
import Storage
import Values

/// Redeems a provider's access token: the issuer is still trusted, and the link and its user still exist. Nothing is
/// spent (`ProviderAssertion` says why).
struct ProviderRedemption: Redemption {
    let holder: ProviderAssertions.Holder
    let user: UserID

    func win(_ attempt: Attempt, in db: any Transaction) throws -> RedemptionOutcome {
        guard try TrustedIssuers.stands(holder.trusted, in: db) else { return .changed }
        let link = try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db)
        return link == IssuerSubjects.Link(user: user, isDisabled: false, isLeaving: false) ? .won : .changed
    }
}
