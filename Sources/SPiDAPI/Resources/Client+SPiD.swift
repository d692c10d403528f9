import Directory
import JSON
import Values

extension Client {
    /// The client in SPiD's members, whose values are texts. What Spindle does not have is off or empty.
    func spidJSON(of merchant: Merchant?) -> JSON {
        let merchantID = merchant?.number ?? 0
        let own: [JSON.Member] = [
            .init("id", .string(id.text)), .init("name", .string(name)), .init("alias", ""),
            .init("domain", .string(webOrigins.first ?? "")), .init("merchantId", .integer(merchantID)),
            .init("merchant", Self.spidJSON(merchant)),
        ]
        let settings: [JSON.Member] = [
            .init("redirectUris", .array(redirectURIs.map { .string($0.text) })),
            .init("accessTokenLifetime", .string(String(accessTokenLifetime.seconds))),
            .init("fields", .object(fields)), .init("css", .object([])), .init("termsCss", .object([])),
            .init("autoApprove", .string(may(.skipConsent) ? "1" : "0")), .init("enableSso", "0"),
            .init("universalDataAccess", "0"), .init("unregisteredPayments", "0"),
        ]
        return .object(own + settings)
    }

    /// The fields that it asks its users for, each true. The SDKs know a name as one field.
    private var fields: [JSON.Member] {
        let names: [SPiDSettings.Field: String] = [
            .givenName: "names", .familyName: "names", .birthday: "birthday", .displayName: "displayName",
            .phoneNumber: "phoneNumber",
        ]
        return Set(spid.requiredFields.compactMap { names[$0] }).sorted().map { JSON.Member($0, true) }
    }

    /// Apps show other terms for a merchant of the platform itself, which here needs no introduction to users.
    private static func spidJSON(_ merchant: Merchant?) -> JSON {
        .members([
            "name": .string(merchant?.name ?? ""), "locale": "", "providerId": "",
            "logo": .string(merchant?.logoURI ?? ""),
            "type": merchant?.skipsIntroduction == true ? "internal" : "external",
        ])
    }
}
