import Administration
public import Directory
import HTTP
public import Federation
public import HTTPSupport
import JSON
public import OAuth
import Values

/// `/admin/v1/merchants`.
public struct MerchantsEndpoint: Endpoint {
    private let gate: AdministratorGate
    private let merchants: Merchants
    private let issuers: TrustedIssuers
    private let addresses: AddressRules

    public init(gate: AdministratorGate, merchants: Merchants, issuers: TrustedIssuers, addresses: AddressRules) {
        self.gate = gate
        self.merchants = merchants
        self.issuers = issuers
        self.addresses = addresses
    }

    public func add(to router: inout Routes) {
        router.post("merchants", .createMerchant, use: gate.once(create))
        router.get("merchants", .listMerchants, use: list)
        router.get("merchants/{id}", .getMerchant, use: show)
        router.patch("merchants/{id}", .changeMerchant, use: change)
        router.delete("merchants/{id}", .deleteMerchant, use: delete)
    }

    @Sendable private func create(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let json = try request.document(context)
        try addresses.refuseOwn(in: json)
        try addresses.refuseUnaskable(in: json)
        let merchant = try await gate.inTurn(of: administrator) { try await merchants.create(json, by: administrator) }
        return .json(merchant.json, status: .created)
    }

    @Sendable private func list(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let page = try ListPage(request, context)
        let search = try MerchantSearch(try request.query)
        let place = try page.place { NamePlace($0, named: search.order == .name) }
        let after = place.map { MerchantSearch.Place(name: $0.name, id: .init($0.id)) }
        var total: Int?? = page.isCounted ? 0 : nil
        let items = try await administrator.listing { own in
            var search = search
            search.id = own
            if page.isCounted { total = try await merchants.count(search) }
            return try await merchants.list(search, after: after, count: page.count + 1)
        }
        return page.response(items, total: total, json: \.json) {
            NamePlace(id: $0.id.text, name: $0.name).text(named: search.order == .name)
        }
    }

    @Sendable private func show(_ request: Request, context: SpindleContext) async throws -> Response {
        let id = try await mine(request, context).id
        guard let merchant = try await merchants.find(id) else { throw Problem.notFound("merchant") }
        return .tagged(merchant.json)
    }

    @Sendable private func change(_ request: Request, context: SpindleContext) async throws -> Response {
        let (id, anyone) = try await mine(request, context)
        let administrator = anyone.expecting(request.ifMatch) { db in try Merchants.find(id, in: db)?.json }
        let json = try request.document(context)
        try addresses.refuseOwn(in: json)
        try addresses.refuseUnaskable(in: json)
        let changed = try await gate.inTurn(of: administrator) {
            try await merchants.change(id, json, by: administrator)
        }
        guard let merchant = changed else { throw Problem.notFound("merchant") }
        return .tagged(merchant.json)
    }

    @Sendable private func delete(_ request: Request, context: SpindleContext) async throws -> Response {
        let administrator = try await gate.administrator(request, context)
        let id: Merchant.ID = try context.identifier()
        let isDeleted = try await gate.inTurn(of: administrator) {
            try await merchants.delete(id, by: administrator) { try await issuers.deleteAll(of: id) }
        }
        guard isDeleted else { throw Problem.notFound("merchant") }
        return Response(status: .noContent)
    }

    private func mine(
        _ request: Request, _ context: SpindleContext
    ) async throws -> (id: Merchant.ID, administrator: Administrator) {
        let administrator = try await gate.administrator(request, context)
        let id: Merchant.ID = try context.identifier()
        guard administrator.covers(id) else { throw Problem.notFound("merchant") }
        return (id, administrator)
    }
}

extension MerchantSearch {
    fileprivate init(_ query: Form) throws {
        self.init()
        name = query["name"]
        redirectURI = query["redirect_uri"]
        guard let chosen = try ListOrder<Order>(query) else { return }
        (order, isDescending) = (chosen.order, chosen.isDescending)
    }
}
