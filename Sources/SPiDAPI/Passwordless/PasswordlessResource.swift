import Authentication
import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Storage
import Values

/// `passwordless/start` and `passwordless/resend`: a backend asks for a code for its app, which `/oauth/ro` takes from
/// the same client.
struct PasswordlessResource: SPiDResource {
    let codes: PasswordlessCodes
    let signUp: AppSignUp

    var routes: [SPiDRoute] {
        [
            route("start", required: ["connection"], optional: ["email", "phone_number", "phoneNumber"]) { call, _ in
                try codes.first { call[$0] }
            },
            route("resend", required: [], optional: ["passwordless_token", "passwordlessToken"]) { call, client in
                try await codes.next(
                    after: call["passwordless_token"] ?? call["passwordlessToken"], locale: call["locale"],
                    at: client.id)
            },
        ]
    }

    private func route(
        _ word: String, required: [String], optional: [String],
        find: @escaping @Sendable (SPiDCall, Client) async throws -> PasswordlessCodes.Wanted
    ) -> SPiDRoute {
        SPiDRoute(
            .post, "passwordless/\(word)", name: "Passwordless \(word)", controller: "Passwordless.\(word)",
            token: .client, required: required, optional: optional + ["locale"]
        ) { call in
            let caller = try call.caller
            let client = caller.contextClient
            guard client.spidCompatible, client.may(.passwordless) else {
                throw OAuthError.grantNotAllowed(client.id)
            }
            let wanted = try await find(call, client)
            // Its users' addresses are not seen here, so the client is charged, as for other mails that it causes.
            if let wait = try await signUp.charge(caller.client) { throw OAuthError.tooManyCodes(wait) }
            if case .phone = wanted.recipient, let merchant = client.merchant,
                let wait = try await signUp.chargeText(by: merchant)
            {
                throw OAuthError.tooManyCodes(wait)
            }
            let token = try await codes.send(
                wanted, for: client, call.request, from: nil, isProven: true, confirm: caller.confirm)
            return .element("Passwordless", .members(["passwordlessToken": .string(token.text)]))
        }
    }
}
