public import Administration
public import Authentication
import Cryptography
import Directory
import HTTP
public import HTTPSupport
import JSON
import OAuth
import Storage
import Values

/// `/admin/v1/users`. A merchant's administrator sees only the users connected to its clients.
public struct UsersEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let administration: UserAdministration
    private let users: Users
    private let data: PersonalData
    private let mail: MailComposer

    public init(
        gate: AdministratorGate, administration: UserAdministration, users: Users, data: PersonalData,
        mail: MailComposer
    ) {
        self.gate = gate
        self.administration = administration
        self.users = users
        self.data = data
        self.mail = mail
    }

    public func add(to router: inout Routes) {
        router.post("users", use: create)
        router.get("users", query: ListPage.parameters + ["email"], use: list)
        router.get("users/{id}", use: show)
        router.patch("users/{id}", use: change)
        router.delete("users/{id}", use: delete)
        router.get("users/{id}/data", use: export)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let changes = try UserChanges(try request.jsonObject(of: .user))
        do {
            let user = try await inTurn(of: administrator) {
                try await users.create(changes, by: administrator)
            }
            return .json(user.adminJSON, status: .created)
        } catch StorageError.conflict {
            throw Problem(status: .conflict, detail: "A user with this address exists.", member: "email")
        } catch let refusal as Users.TooManyNew {
            throw OAuthError.tooManyUsers(refusal.wait)
        } catch is HashingPoolFull {
            throw OAuthError.signInsOverloaded
        }
    }

    private func inTurn<Value: Sendable>(
        of administrator: Administrator, _ change: () async throws -> Value
    ) async throws -> Value {
        try await administrator.takesTurnsForUsers ? gate.inTurn(of: administrator, change) : change()
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let page = try ListPage(request, context)
        let items =
            if let email = try request.query["email"] {
                try await administration.find(try Self.address(email), by: administrator).map { [$0] } ?? []
            } else {
                try await administration.list(by: administrator, after: page.afterNumber, count: page.count + 1)
            }
        return page.response(items, json: \.adminJSON, cursor: { $0.id.description })
    }

    private static func address(_ text: String) throws -> EmailAddress {
        guard let email = EmailAddress(text) else {
            throw Problem(parameter: "email", "must be an e-mail address, whose + is %2B in a URL")
        }
        return email
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, _) = try await mine(request, context)
        guard let user = try await users.find(id) else { throw Problem.notFound("user") }
        return .json(user.adminJSON)
    }

    @Sendable private func change(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let id = try await own(context, of: administrator)
        let changes = try UserChanges(try request.jsonObject(of: .user))
        do {
            let user = try await inTurn(of: administrator) {
                try await users.change(id, changes, by: administrator)
            }
            guard let user else {
                throw Problem.notFound("user")
            }
            return .json(user.adminJSON)
        } catch StorageError.conflict {
            throw Problem(status: .conflict, detail: "A user with this address exists.", member: "email")
        } catch PasswordSignIn.Refusal.throttled(let wait, _, _) {
            throw OAuthError.tooManyChanges(wait)
        } catch is HashingPoolFull {
            throw OAuthError.signInsOverloaded
        }
    }

    /// Everything stored about a user. Only the platform gets it, because it includes what other merchants know.
    @Sendable private func export(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, administrator) = try await mine(request, context)
        try administrator.requirePlatform("export the data of a user")
        guard let document = try await data.document(of: id) else { throw Problem.notFound("user") }
        return .json(bytes: document)
    }

    /// The platform deletes the user at once; a merchant only ends the user's connections to its own clients.
    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let id = try await own(context, of: administrator)
        let removal = try await gate.inTurn(of: administrator) {
            try await administration.remove(id, by: administrator)
        }
        switch removal {
        case .disconnected: break
        case .deleted: mail.send()
        case .notFound: throw Problem.notFound("user")
        }
        return Response(status: .noContent)
    }

    private func mine(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (id: UserID, administrator: Administrator) {
        let administrator = try await gate.administrator(request, context)
        return (try await own(context, of: administrator), administrator)
    }

    /// The user of `{id}`, if `administrator` may see them.
    private func own(_ context: SpindleContext, of administrator: Administrator) async throws -> UserID {
        guard let id = UserID(try context.parameters.require("id")),
            try await administration.covers(id, by: administrator)
        else { throw Problem.notFound("user") }
        return id
    }
}
