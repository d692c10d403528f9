import Authentication
import Directory
import HTTP
import JSON
import SPiD

/// `phone/{phone}/status`: whether a user has shown to read text messages to a number. The merchant's own backends may
/// know; pages never tell.
struct PhoneResource: SPiDResource {
    let people: ConnectedUsers

    var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "phone/{phone}/status", name: "Phone status", controller: "Phone.phone_status", token: .client,
                isForApps: true, answer: status)
        ]
    }

    @Sendable private func status(_ call: SPiDCall) async throws -> SPiDAnswer {
        // A client that may ask about every number learns who is a user.
        try call.caller.requireFirstParty()
        guard let phone = String(base64: call.path["phone"] ?? "").flatMap({ PhoneNumber($0) }) else {
            throw SPiDRefusal(
                .badRequest, "Phone parameter did not properly base64 decode into a phone number with a country code",
                reason: "malformed_phone")
        }
        // A number that its user has not verified is anybody's: it exists only here once it is.
        let isKnown = JSON.bool(try await people.user(of: phone) != nil)
        return .element(
            "Phone", .members(["exists": isKnown, "available": .bool(isKnown == false), "verified": isKnown]))
    }
}
