public import Federation

/// What a merchant's own administrator may set for an issuer. Users belong to the deployment: the platform decides
/// which issuers lead to users that the merchant did not create.
extension Administrator {
    public func permit(registering issuer: TrustedIssuer) throws {
        guard confines != nil else { return }
        try permit(vouching: !issuer.vouchesForAddresses)
        // Otherwise the links of an issuer that only has a provider's name would later be taken for the provider's.
        try permit(keysOfProvider: issuer.app == nil ? !issuer.isNamedAsProvider : issuer.hasProvidersKeys)
        try permit(signingIn: issuer.signIn == nil || issuer.hasProvidersKeys)
        try permit(everywhere: !issuer.signsInEverywhere)
    }

    public func permit(_ issuer: TrustedIssuer, toBecome changed: TrustedIssuer) throws {
        try permit(enabling: issuer.disabledAt != nil && changed.disabledAt == nil)
        guard confines != nil else { return }
        // Its links were made under the former keys.
        try permit(keysOfProvider: issuer.app != nil || changed.app == nil)
        // A change of the keys is a change of what the issuer vouches for.
        let isAlike = issuer.isTrustedAlike(changed) && (issuer.createsUsers || !changed.createsUsers)
        try permit(vouching: !(issuer.vouchesForAddresses || changed.vouchesForAddresses) || isAlike)
        try permit(
            keysOfProvider: changed.app == nil || changed.hasProvidersKeys
                || (issuer.app != nil && issuer.keys == changed.keys))
        // The platform may let its linked users sign in there. That remains, with the same keys and under the name that
        // mails to users of all merchants use.
        let isAsBefore =
            issuer.signIn?.clientID == changed.signIn?.clientID && issuer.signIn?.name == changed.signIn?.name
            && isAlike
        let isOfNobody = issuer.signIn == nil && changed.signIn == nil
        try permit(signingIn: isOfNobody || changed.hasProvidersKeys || isAsBefore)
        try permit(everywhere: changed.signsInEverywhere == issuer.signsInEverywhere)
        // The owner of the app at a provider could sign in as any user of it.
        let isForSameApp =
            changed.signIn == nil
            || issuer.signIn?.clientID == changed.signIn?.clientID && issuer.signIn?.name == changed.signIn?.name
        try permit(guarded: !issuer.isGuarded || isAlike && isForSameApp)
        // The platform set up a sign-in for users everywhere. The merchant, too, may end it.
        let isSameButton =
            (changed.signIn == nil || changed.signIn == issuer.signIn)
            && changed.app?.sealedSecret == issuer.app?.sealedSecret
        try permit(
            button: !issuer.signsInEverywhere || isSameButton && (issuer.createsUsers || !changed.createsUsers))
    }

    /// Deleting counts as enabling, because a deleted issuer could be registered anew, and would be enabled. If its
    /// sign-ins are good everywhere, no new registration restores its links, and users without another way to sign in
    /// would lose their accounts at every merchant.
    public func permit(deleting issuer: TrustedIssuer) throws {
        try permit(enabling: issuer.disabledAt != nil)
        guard confines == nil || !issuer.signsInEverywhere else {
            throw AdministrationRefusal(
                "A provider whose sign-ins are good at every merchant is the platform's to delete: disable it, or set "
                    + "client_id to null.")
        }
    }

    private func permit(vouching isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "An issuer that leads to accounts by their address is the platform's to register and to change.",
                member: "link_by_email")
        }
    }

    /// Users who sign in there are signed in to every merchant's applications, so the platform must trust the issuer.
    private func permit(signingIn isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "An issuer that people are sent to is the platform's to register and to change.", member: "client_id")
        }
    }

    private func permit(everywhere isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "Whether a provider's sign-ins are good at every merchant is the platform's to say: the app there is "
                    + "yours.", member: "signs_in_everywhere")
        }
    }

    private func permit(button isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "The client, name, secrets and scope of a provider whose sign-ins are good at every merchant are the "
                    + "platform's to change, and whether strangers become users there.", member: "client_id")
        }
    }

    /// Users who were linked while the platform trusted the issuer still are.
    private func permit(guarded isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "An issuer that people were sent to, or that led to accounts by their address, is the "
                    + "platform's to change: who was linked to it is so still.")
        }
    }

    private func permit(keysOfProvider isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "A provider's keys are its own: leave jwks, jwks_uri and discovery_url out.", member: "provider")
        }
    }
}
