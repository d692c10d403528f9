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
    private let finding: Finding
    private let mail: MailComposer

    public init(
        gate: AdministratorGate, administration: UserAdministration, finding: Finding, users: Users,
        data: PersonalData, mail: MailComposer
    ) {
        self.gate = gate
        self.finding = finding
        self.administration = administration
        self.users = users
        self.data = data
        self.mail = mail
    }

    public func add(to router: inout Routes) {
        router.post("users", .createUser, use: gate.once(create))
        router.get("users", .listUsers, use: list)
        router.get("users/{id}", .getUser, use: show)
        router.patch("users/{id}", .changeUser, use: change)
        router.delete("users/{id}", .deleteUser, use: delete)
        router.get("users/{id}/data", .exportUser, use: export)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let changes = try UserChanges(try request.document(context))
        do {
            let user = try await inTurn(of: administrator) {
                try await users.create(changes, by: administrator)
            }
            return .json(user.adminJSON, status: .created)
        } catch StorageError.conflict {
            throw Problem(status: .conflict, detail: "A user with this address exists.", member: "email")
        } catch let taken as Users.Taken {
            throw Problem(
                status: .conflict, detail: "'\(taken.member)' is another user's, or a client's id.",
                member: taken.member)
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
        let query = try request.query
        var search = try UserSearch(query)
        if let sub = query["sub"] {
            guard let user = try await finding.user(ofSubject: sub, by: administrator) else {
                return page.response([User](), total: page.isCounted ? 0 : nil, json: \.adminJSON) { _ in "" }
            }
            search.keys.append(.user(user))
        }
        let place = try page.place { [search] text in UserSearch.Place(text, in: search.order) }
        do {
            let items = try await finding.users(search, by: administrator, after: place, count: page.count + 1)
            var total: Int??
            // A nil within says that they are too many to count.
            if page.isCounted { total = .some(try await finding.count(search, by: administrator)) }
            return page.response(items, total: total, json: \.adminJSON) { UserSearch.position(of: $0, in: search) }
        } catch is UserSearch.TooMany {
            throw Problem(
                status: .badRequest,
                detail: "This search reads too many other users: make a prefix longer, or leave out conditions.")
        }
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, _) = try await mine(request, context)
        guard let user = try await users.find(id) else { throw Problem.notFound("user") }
        return .tagged(user.adminJSON)
    }

    @Sendable private func change(_ request: Request, context: SpindleContext) async throws -> Response {
        let anyone = try await gate.administrator(request, context)
        let id = try await own(context, of: anyone)
        let administrator = anyone.expecting(request.ifMatch) { db in try User.find(id, in: db)?.adminJSON }
        let changes = try UserChanges(try request.document(context))
        do {
            let user = try await inTurn(of: administrator) {
                try await users.change(id, changes, by: administrator)
            }
            guard let user else {
                throw Problem.notFound("user")
            }
            return .tagged(user.adminJSON)
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
        let (id, _) = try await mine(request, context)
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
