public import JSON

extension Administrator {
    /// Checks a change of a merchant, by the members that its document names.
    public func permit(changingMerchant json: JSON) throws(AdministrationRefusal) {
        if json["disabled"] != nil { try requirePlatform("disable or enable a merchant") }
        // A merchant cannot say of itself that every user has met it.
        if json["skip_introduction"] != nil { try requirePlatform("spare a merchant the introduction") }
    }
}
