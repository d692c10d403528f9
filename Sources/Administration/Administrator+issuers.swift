public import Federation

/// What a merchant's own administrator may say of an issuer. Accounts belong to the deployment: whose word leads to
/// accounts that the merchant did not make is the platform's to decide.
extension Administrator {
    public func permit(registering issuer: TrustedIssuer) throws {
        guard confines != nil else { return }
        try permit(vouching: !issuer.vouchesForAddresses)
        // One that only calls itself as a provider does would have its links taken for the provider's later.
        try permit(keysOfProvider: issuer.app == nil ? !issuer.isNamedAsProvider : issuer.hasProvidersKeys)
        try permit(signingIn: issuer.signIn == nil || issuer.hasProvidersKeys)
    }

    public func permit(_ issuer: TrustedIssuer, toBecome changed: TrustedIssuer) throws {
        try permit(enabling: issuer.disabledAt != nil && changed.disabledAt == nil)
        guard confines != nil else { return }
        // Its links were made under other keys.
        try permit(keysOfProvider: issuer.app != nil || changed.app == nil)
        // Whose keys it has is as good as whom it vouches for.
        try permit(
            vouching: !(issuer.vouchesForAddresses || changed.vouchesForAddresses)
                || issuer.isTrustedAlike(changed))
        try permit(
            keysOfProvider: changed.app == nil || changed.hasProvidersKeys
                || (issuer.app != nil && issuer.keys == changed.keys))
        // Whom the platform sends people to may be connected to their accounts: that stays so, with the same keys.
        let isAsBefore = issuer.signIn?.clientID == changed.signIn?.clientID && issuer.isTrustedAlike(changed)
        let isOfNobody = issuer.signIn == nil && changed.signIn == nil
        try permit(signingIn: isOfNobody || changed.hasProvidersKeys || isAsBefore)
    }

    /// An issuer that was deleted could be registered anew, and would be enabled.
    public func permit(deleting issuer: TrustedIssuer) throws {
        try permit(enabling: issuer.disabledAt != nil)
    }

    private func permit(vouching isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "An issuer that leads to accounts by their address is the platform's to register and to change.",
                member: "link_by_email")
        }
    }

    /// Who signs in there signs in to every merchant's applications here: that takes the platform's trust.
    private func permit(signingIn isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "An issuer that people are sent to is the platform's to register and to change: a session here is "
                    + "every merchant's.", member: "client_id")
        }
    }

    private func permit(keysOfProvider isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "A provider's keys are its own: leave jwks, jwks_uri and discovery_url out.", member: "provider")
        }
    }
}
