import JSON

/// The look of a merchant's pages.
extension Merchant {
    /// An https URL; null removes it.
    static func logoURI(_ members: JSONMembers, _ base: Merchant?) throws(JSONFault) -> String? {
        guard members.has("logo_uri") else { return base?.logoURI }
        guard let text = try members.text("logo_uri", most: 1000) else { return nil }
        guard WebOrigin.isImage(text) else { throw JSONFault("logo_uri", "an https URL, or null") }
        return text
    }

    /// `#rrggbb`; null removes it.
    static func accentColor(_ members: JSONMembers, _ base: Merchant?) throws(JSONFault) -> String? {
        guard members.has("accent_color") else { return base?.accentColor }
        guard let text = try members.text("accent_color") else { return nil }
        guard text.wholeMatch(of: /#[0-9a-fA-F]{6}/) != nil else {
            throw JSONFault("accent_color", "a colour as #rrggbb, or null")
        }
        return text.lowercased()
    }
}
