public import Ditto
public import Federation
public import OAuth
public import Storage

/// What a merchant's own administrator may set for an issuer. Users belong to the deployment: the platform decides
/// which issuers lead to users that the merchant did not create.
extension Administrator: IssuerAuthority {
    public var trustsEverywhere: Bool { confines == nil }

    public func permit(registering issuer: TrustedIssuer, in db: any Transaction) throws {
        try requireAdministrator()
        guard confines != nil else { return }
        try permit(vouching: !issuer.vouchesForAddresses)
        // Otherwise the links of an issuer that only has a provider's name would later be taken for the provider's.
        try permit(keysOfProvider: issuer.app == nil ? !issuer.isNamedAsProvider : issuer.hasProvidersKeys)
        try permit(signingIn: issuer.signIn == nil || issuer.hasProvidersKeys)
        try permit(everywhere: !issuer.signsInEverywhere)
        try confirmRoom(for: "issuers", atMost: TrustedIssuers.mostOfMerchant, in: db, TrustedIssuers.hasRoom)
    }

    public func permit(changing issuer: TrustedIssuer, to changed: TrustedIssuer) throws {
        try requireAdministrator()
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
        let hasNoSignIn = issuer.signIn == nil && changed.signIn == nil
        try permit(signingIn: hasNoSignIn || changed.hasProvidersKeys || isAsBefore)
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
        try requireAdministrator()
        try permit(enabling: issuer.disabledAt != nil)
        guard confines == nil || !issuer.signsInEverywhere else {
            throw AdministrationRefusal(
                "Only the platform may delete a provider whose sign-ins are good at every merchant: disable it, or set "
                    + "client_id to null.")
        }
    }

    private func permit(vouching isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "Only the platform may register or change an issuer that is linked to users by their e-mail address.",
                member: "link_by_email")
        }
    }

    /// Users who sign in there are signed in to every merchant's applications, so the platform must trust the issuer.
    private func permit(signingIn isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "Only the platform may register or change an issuer at which users sign in.", member: "client_id")
        }
    }

    private func permit(everywhere isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "Only the platform may set whether a provider's sign-ins are good at every merchant, because the app "
                    + "at the provider is yours.", member: "signs_in_everywhere")
        }
    }

    private func permit(button isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "If a provider's sign-ins are good at every merchant, only the platform may change its client, name, "
                    + "secrets and scope, and whether it creates users.", member: "client_id")
        }
    }

    /// Users who were linked while the platform trusted the issuer still are.
    private func permit(guarded isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "Only the platform may change an issuer at which users signed in, or that was linked to users by their "
                    + "e-mail address: these links remain.")
        }
    }

    private func permit(keysOfProvider isPermitted: Bool) throws {
        guard isPermitted else {
            throw AdministrationRefusal(
                "A provider has its own keys: leave out jwks, jwks_uri and discovery_url.", member: "provider")
        }
    }
}

/// What an administrator may set for webhooks and initial access tokens.
extension Administrator: WebhookAuthority, InitialAccessTokenAuthority {
    public var takesNames: Bool { confines == nil }

    public func permit(registering webhook: DittoWebhook, in db: any Transaction) throws {
        try requireAdministrator()
        try confirmRoom(
            for: "webhooks, or the names of a thousand deleted ones", atMost: DittoWebhooks.mostOfMerchant, in: db,
            DittoWebhooks.hasRoom)
    }

    public func permit(changing webhook: DittoWebhook, to changed: DittoWebhook) throws {
        try requireAdministrator()
        try permit(enabling: webhook.disabledAt != nil && changed.disabledAt == nil)
    }

    public func permit(deleting webhook: DittoWebhook) throws {
        try requireAdministrator()
        try permit(enabling: webhook.disabledAt != nil)
    }

    public func permit(issuing token: InitialAccessToken, in db: any Transaction) throws {
        try requireAdministrator()
        try confirmRoom(
            for: "initial access tokens", atMost: InitialAccessTokens.mostOfMerchant, in: db,
            InitialAccessTokens.hasRoom)
    }
}
