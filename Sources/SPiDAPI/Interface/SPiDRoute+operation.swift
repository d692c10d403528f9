import Directory
import HTTP
import HTTPSupport
import JSON
import SPiD

extension SPiDRoute {
    /// The operation of its path at `/api/2/`.
    var operation: Operation {
        let names = required + optional
        let isForm = method == .post
        let query = (isForm ? [] : names) + Self.common
        return Operation(
            id, name.prefix(1).lowercased() + name.dropFirst(), by: caller,
            parameters: query.map { name in
                .init(name, .text, isRequired: required.contains(name), "")
            },
            body: isForm ? .form(names.map { .init($0, .text, isRequired: required.contains($0), "") }) : nil,
            answers: [.init(.ok, .json(Self.container), "the answer, in SPiD's container")], refusingAs: .spid)
    }

    /// From the method and the path: `spid_get_user_id_logins`.
    private var id: String {
        "spid_\(method.rawValue.lowercased())_"
            + path.split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
    }

    private var caller: Operation.Caller {
        switch access.token {
        case .unread, .optional: .anyone
        case .client, .user, .either: .token
        }
    }

    private static let container = Schema.object(
        ["name": .text, "version": .text, "api": .number, "object": .text, "type": .text, "code": .number],
        required: ["name", "version", "api", "object", "type", "code"])
}

extension Operation {
    static let startPasswordless = Operation(
        "startPasswordless", "send a code by mail or text", by: .client,
        body: fields([
            "client_id": "the client", "client_secret": "its secret", "connection": "`email` or `sms`",
            "email": "the address", "phone_number": "the number", "locale": "the language",
        ]), answers: [passwordlessToken], refusingAs: .spid)
    static let resendPasswordless = Operation(
        "resendPasswordless", "send the code again", by: .client,
        body: fields([
            "client_id": "the client", "client_secret": "its secret", "passwordless_token": "of the first answer",
            "locale": "the language",
        ]), answers: [passwordlessToken], refusingAs: .spid)

    private static let passwordlessToken = Answer(
        .ok, .json(.object(["passwordless_token": .text], required: ["passwordless_token"])), "what redeems the code")
}
