import Authentication
import Directory
import HTTP
import HTTPSupport
import JSON
import OAuth
import SPiD
import Storage
import Values

/// `passwordless/start` and `passwordless/resend`: a backend asks for a code for its app, which `/oauth/ro` takes from
/// the same client.
struct PasswordlessResource: SPiDResource {
    let codes: PasswordlessCodes
    let address: ClientAddress

    var routes: [SPiDRoute] {
        [
            route("start", required: ["connection"], optional: ["email", "phone_number", "phoneNumber"]) { call, _ in
                try codes.first { call[$0] }
            },
            route("resend", required: [], optional: ["passwordless_token", "passwordlessToken"]) { call, client in
                try await codes.next(
                    after: call["passwordless_token"] ?? call["passwordlessToken"], locale: call["locale"],
                    at: client)
            },
        ]
    }

    private func route(
        _ word: String, required: [String], optional: [String],
        find: @escaping @Sendable (SPiDCall, Client) async throws -> PasswordlessCodes.Wanted
    ) -> SPiDRoute {
        SPiDRoute(
            .post, "passwordless/\(word)", name: "Passwordless \(word)", controller: "Passwordless.\(word)",
            token: .client, isForApps: true, required: required, optional: optional + ["locale"]
        ) { call in
            let caller = try call.caller
            let client = caller.contextClient
            try client.requireCodesByMail()
            let wanted = try await find(call, client)
            // The addresses of a backend's users are not seen here, so the client is charged. An app asks from its
            // user's own address, and so does anyone who extracted its secret.
            let answersForItself = caller.client.may(.answerForItself)
            if answersForItself { try await codes.charge(caller.client, of: client.merchant, for: wanted) }
            let token = try await codes.send(
                wanted, for: client, call.request, from: answersForItself ? nil : address.of(call.request),
                isProven: answersForItself, by: caller)
            return .element("Passwordless", .members(["passwordlessToken": .string(token.text)]))
        }
    }
}
