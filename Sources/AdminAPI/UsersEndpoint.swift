public import Authentication
import Cryptography
import Directory
import HTTP
public import HTTPSupport
import JOSE
public import OAuth
import Storage
public import Values

/// `/admin/v1/users`. A merchant's administrator sees the people connected to its clients, and no others.
public struct UsersEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let users: Users
    private let families: TokenFamilies
    private let deletion: Deletion
    private let data: PersonalData
    private let mail: MailComposer
    private let clock: any WallClock

    public init(
        gate: AdministratorGate, users: Users, families: TokenFamilies, deletion: Deletion, data: PersonalData,
        mail: MailComposer, clock: any WallClock
    ) {
        self.gate = gate
        self.users = users
        self.families = families
        self.deletion = deletion
        self.data = data
        self.mail = mail
        self.clock = clock
    }

    public func add(to router: inout Routes) {
        router.post("users", use: create)
        router.get("users", use: list)
        router.get("users/{id}", use: show)
        router.patch("users/{id}", use: change)
        router.delete("users/{id}", use: delete)
        router.get("users/{id}/data", use: export)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let (administrator, confirm) = try await gate.entry(request)
        let changes = try UserChanges(try request.jsonObject())
        if administrator.confines != nil, changes.verifiesEmail {
            // An account is the deployment's: one merchant's word does not make an address verified for the others.
            throw Problem.forbidden("Only the platform may say that an address is verified.", member: "email_verified")
        }
        if administrator.confines != nil, changes.setsPassword {
            // Else the address's owner, when they come, would find an account that somebody else can sign in to.
            throw Problem.forbidden(
                "Only the platform may set a password. The person sets one at /password, by a link in a mail.",
                member: "password")
        }
        if administrator.confines != nil, changes.setsAttributes {
            // They reach the clients of every merchant.
            throw Problem.forbidden("Only the platform may set attributes.", member: "attributes")
        }
        if administrator.confines != nil, changes.disables {
            // It would keep the address's owner out of every merchant's applications.
            throw Problem.forbidden("Only the platform may make an account that is disabled.", member: "disabled")
        }
        do {
            let user = try await users.create(changes) { id, now, db in
                try confirm(db)
                guard case .merchant(_, let client) = administrator else { return }
                try TokenFamilies.connect(id, to: client, at: now, in: db)
            }
            return .json(user.adminJSON, status: .created)
        } catch StorageError.conflict {
            throw Problem(status: .conflict, detail: "An account with this address exists.", member: "email")
        } catch is HashingPoolFull {
            throw OAuthError.signInsOverloaded
        }
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request)
        let page = try ListPage(request)
        let items = try await users.list(
            connectedTo: administrator.confines?.text, after: Int64(page.after) ?? 0, count: page.count + 1)
        return page.response(items, json: \.adminJSON, cursor: { $0.id.description })
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, _) = try await mine(request, context)
        guard let user = try await users.find(id) else { throw Problem.notFound("user") }
        return .json(user.adminJSON)
    }

    @Sendable private func change(_ request: Request, context: SpindleContext) async throws -> Response {
        let (administrator, confirm) = try await gate.entry(request)
        let id = try await own(context, of: administrator)
        let changes = try UserChanges(try request.jsonObject())
        if administrator.confines != nil, let member = changes.sensitiveMember {
            throw Problem.forbidden(
                "Address, password, verified flag, attributes and disabling of an account are the platform's to set.",
                member: member)
        }
        do {
            guard let user = try await users.change(id, changes, confirm: confirm) else {
                throw Problem.notFound("user")
            }
            return .json(user.adminJSON)
        } catch StorageError.conflict {
            throw Problem(status: .conflict, detail: "An account with this address exists.", member: "email")
        } catch is HashingPoolFull {
            throw OAuthError.signInsOverloaded
        }
    }

    /// All that is held on a person: what merchants other than the administrator's know is among it.
    @Sendable private func export(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, administrator) = try await mine(request, context)
        try administrator.requirePlatform("have everything that is held on a person")
        guard let document = try await data.document(of: id) else { throw Problem.notFound("user") }
        return .json(document)
    }

    /// The platform deletes the account at once; a merchant only ends what connects it to its own clients.
    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, administrator) = try await mine(request, context)
        if let merchant = administrator.confines {
            try await families.disconnect(id, from: merchant, at: clock.now)
        } else {
            guard try await deletion.delete(id) else { throw Problem.notFound("user") }
            mail.send()
        }
        return Response(status: .noContent)
    }

    private func mine(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (id: UserID, administrator: Administrator) {
        let administrator = try await gate.administrator(request)
        return (try await own(context, of: administrator), administrator)
    }

    /// The person of `{id}`, if `administrator` may see them.
    private func own(_ context: SpindleContext, of administrator: Administrator) async throws -> UserID {
        guard let id = UserID(try context.parameters.require("id")) else { throw Problem.notFound("user") }
        if let merchant = administrator.confines {
            guard try await families.isConnected(id, to: merchant) else { throw Problem.notFound("user") }
        }
        return id
    }
}
