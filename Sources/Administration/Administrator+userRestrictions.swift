import Authentication

/// What a merchant's administrator may not set of users, because users belong to the whole deployment.
extension Administrator {
    func permit(making user: UserChanges) throws(AdministrationRefusal) {
        guard confines != nil else { return }
        if user.verifiesEmail {
            // Users belong to the deployment: one merchant cannot verify an address for the others.
            throw AdministrationRefusal(
                "Only the platform may say that an address is verified.", member: "email_verified")
        }
        if user.setsPassword {
            // Otherwise the address's owner would one day find a user that somebody else can sign in as.
            throw AdministrationRefusal(
                "Only the platform may set a password. The person sets one at /password, by a link in a mail.",
                member: "password")
        }
        if user.setsAttributes {
            // Attributes reach the clients of every merchant.
            throw AdministrationRefusal("Only the platform may set attributes.", member: "attributes")
        }
        if user.disables {
            // It would keep the address's owner out of every merchant's applications.
            throw AdministrationRefusal("Only the platform may make an account that is disabled.", member: "disabled")
        }
    }

    func permit(changing user: UserChanges) throws(AdministrationRefusal) {
        guard confines != nil, let member = user.sensitiveMember else { return }
        throw AdministrationRefusal(
            "Address, password, verified flag, attributes and disabling of an account are the platform's to set.",
            member: member)
    }
}
