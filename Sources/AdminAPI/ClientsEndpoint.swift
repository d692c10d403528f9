import Administration
public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
import Storage
import Values

/// `/admin/v1/clients`, with the member names of RFC 7591.
public struct ClientsEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let clients: Clients
    private let merchants: Merchants
    private let addresses: AddressRules

    public init(gate: AdministratorGate, clients: Clients, merchants: Merchants, addresses: AddressRules) {
        self.gate = gate
        self.clients = clients
        self.merchants = merchants
        self.addresses = addresses
    }

    public func add(to router: inout Routes) {
        router.post("clients", .createClient, use: gate.once(create))
        router.get("clients", .listClients, use: list)
        router.get("clients/{id}", .getClient, use: show)
        router.patch("clients/{id}", .changeClient, use: change)
        router.delete("clients/{id}", .deleteClient, use: delete)
        router.post("clients/{id}/secrets", .addSecret, use: gate.once(addSecret))
        router.get("clients/{id}/secrets", .listSecrets, use: listSecrets)
        router.delete("clients/{id}/secrets/{sid}", .endSecret, use: endSecret)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let json = try request.document(context)
        try addresses.refuseOwn(in: json)
        let metadata = try ClientMetadata(ofNew: json)
        try addresses.refuseUnaskable(in: json)
        let named = try JSONMembers(json).text("merchant_id").map { Merchant.ID($0) }
        let merchant = try await administrator.merchant(named: named, ofNew: metadata, among: merchants)
        let chosen = try JSONMembers(json).text("client_id")
        if chosen != nil { try administrator.require(.platform, to: "choose the id of a client") }
        let id = try chosen.map { try Client.ID(chosen: $0, in: "client_id") }
        let registered = try await gate.inTurn(of: administrator) {
            do {
                return try await clients.register(metadata, as: id, merchant: merchant, by: administrator)
            } catch let fault as JSONFault where fault.member == "id" {
                throw Problem(
                    status: .conflict, detail: "'client_id' must be \(fault.expected).", member: "client_id")
            }
        }
        return .json(registered.json, status: .created)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let page = try ListPage(request, context)
        let query = try request.query
        let search = try ClientSearch(query)
        let place = try page.place { NamePlace($0, named: search.order == .name) }
        let after = place.map { ClientSearch.Place(name: $0.name, id: .init($0.id)) }
        var total: Int?? = page.isCounted ? 0 : nil
        let items = try await administrator.listing(of: search.merchant) { merchant in
            var search = search
            search.merchant = merchant
            if page.isCounted { total = try await clients.count(search) }
            return try await clients.list(search, after: after, count: page.count + 1)
        }
        return page.response(items, total: total, json: \.json) {
            NamePlace(id: $0.id.text, name: $0.name).text(named: search.order == .name)
        }
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        .tagged(try await mine(request, context).client.json)
    }

    @Sendable private func change(_ request: Request, context: SpindleContext) async throws -> Response {
        let (client, anyone) = try await mine(request, context)
        let administrator = anyone.expecting(request.ifMatch) { db in try Clients.find(client.id, in: db)?.json }
        let json = try request.document(context)
        try addresses.refuseOwn(in: json)
        try addresses.refuseUnaskable(in: json)
        let changed = try await gate.inTurn(of: administrator) {
            try await clients.change(client.id, json, by: administrator)
        }
        guard let changed else { throw Problem.notFound("client") }
        return .tagged(changed.json)
    }

    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let (client, administrator) = try await mine(request, context)
        let isDeleted = try await gate.inTurn(of: administrator) {
            try await clients.delete(client.id, by: administrator)
        }
        guard isDeleted else { throw Problem.notFound("client") }
        return Response(status: .noContent)
    }

    @Sendable private func addSecret(_ request: Request, context: SpindleContext) async throws -> Response {
        let (client, administrator) = try await mine(request, context)
        let added = try await gate.inTurn(of: administrator) {
            try await clients.addSecret(to: client.id, by: administrator)
        }
        guard let (secret, value) = added else {
            throw Problem(
                status: .conflict,
                detail: !client.authentication.takesSecret
                    ? "A client that authenticates by '\(client.authentication.rawValue)' gets no further secret."
                    : "\(Clients.mostSecrets) secrets are live already: end one first.")
        }
        return .json(
            .members([
                "id": .string(secret.id.text), "client_secret": .string(value.value),
                "created_at": .integer(secret.createdAt.seconds),
            ]), status: .created)
    }

    @Sendable private func listSecrets(_ request: Request, context: SpindleContext) async throws -> Response {
        let client = try await mine(request, context).client
        let page = try ListPage(request, context)
        let secrets = try await clients.secrets(of: client.id)
        func position(_ secret: ClientSecret) -> String { "\(secret.createdAt.milliseconds)-\(secret.id)" }
        return page.response(
            of: secrets,
            json: { .members(["id": .string($0.id.text), "created_at": .integer($0.createdAt.seconds)]) },
            cursor: position)
    }

    @Sendable private func endSecret(_ request: Request, context: SpindleContext) async throws -> Response {
        let (client, administrator) = try await mine(request, context)
        let secret: ClientSecret.ID = try context.identifier("sid")
        let isEnded = try await gate.inTurn(of: administrator) {
            try await clients.endSecret(secret, of: client.id, by: administrator)
        }
        guard isEnded else { throw Problem.notFound("secret") }
        return Response(status: .noContent)
    }

    private func mine(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (client: Client, administrator: Administrator) {
        let administrator = try await gate.administrator(request, context)
        guard let client = try await clients.find(try context.identifier()), administrator.covers(client.merchant)
        else {
            throw Problem.notFound("client")
        }
        return (client, administrator)
    }
}

extension ClientSearch {
    fileprivate init(_ query: Form) throws {
        self.init(of: query["merchant_id"].map { Merchant.ID($0) })
        id = query["client_id"].map { Client.ID($0) }
        name = query["client_name"]
        redirectURI = query["redirect_uri"]
        guard let chosen = try ListOrder<Order>(query) else { return }
        (order, isDescending) = (chosen.order, chosen.isDescending)
    }
}
