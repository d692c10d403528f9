import Authentication
import Directory
import HTTP
import JSON
import SPiD

/// `phone/{phone}/status`: whether a user has proved to read text messages to a number. Only first-party backends may
/// know; pages never tell.
struct PhoneResource: SPiDResource {
    let connectedUsers: ConnectedUsers

    var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "phone/{phone}/status", name: "Phone status", controller: "Phone.phone_status", token: .client,
                isForApps: true, answer: status)
        ]
    }

    @Sendable private func status(_ call: SPiDCall) async throws -> SPiDAnswer {
        // A client that may ask about every number learns which have a user.
        try call.caller.requireFirstParty()
        guard let phone = String(base64: call.path["phone"] ?? "").flatMap({ PhoneNumber($0) }) else {
            throw SPiDRefusal(
                .badRequest, "Phone parameter did not properly base64 decode into a phone number with a country code",
                reason: "malformed_phone")
        }
        // An unverified number may be another user's: it counts only once it is verified.
        let isKnown = JSON.bool(try await connectedUsers.user(of: phone) != nil)
        return .element(
            "Phone", .members(["exists": isKnown, "available": .bool(isKnown == false), "verified": isKnown]))
    }
}
