import Authentication
import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Storage
import Values

/// `user/{id}/dataobject/{key}`, `client/{id}/dataobject/{key}` and their lists: texts that a client keeps here, for
/// its users and for itself. A list may include all clients of the merchant.
struct DataObjectResource: SPiDResource {
    let objects: DataObjects
    let finder: UserFinder
    let merchants: MerchantNumbers

    /// Finds the owner that a call names, or refuses.
    typealias Owner = @Sendable (SPiDCall) async throws -> DataObject.Owner

    var routes: [SPiDRoute] {
        let one = ["dataobject", "do"].flatMap { name in
            routes("user/{id}/\(name)/{key}", "User", .either, user)
                + routes("client/{id}/\(name)/{key}", "Client", .client, client)
        }
        return one + [
            SPiDRoute(
                .get, "user/{id}/dataobjects", name: "List data objects of a user", controller: "User.user_dataobjects",
                token: .either, answer: ofUser),
            SPiDRoute(
                .get, "dataobjects", name: "List data objects", controller: "DataObject.dataobjects", token: .client,
                optional: SPiDCall.listParameters + ["key", "sort"], answer: list),
        ]
    }

    /// The routes that read, write and delete one object.
    private func routes(
        _ path: String, _ of: String, _ token: CallAccess.Token, _ find: @escaping Owner
    ) -> [SPiDRoute] {
        let name = "data object of a \(of.lowercased())"
        let controller = "\(of).\(of.lowercased())_dataobject"
        return [
            SPiDRoute(.get, path, name: "Get \(name)", controller: controller, token: token) { call in
                let key = try Self.key(call)
                guard let object = try await objects.find(key, of: find(call)) else { throw Self.unknown }
                return try await answer(object, call)
            },
            SPiDRoute(
                .post, path, name: "Set \(name)", controller: controller, token: token, required: ["value"]
            ) { call in
                let (key, value) = (try Self.key(call), try call.require("value"))
                guard value.utf8.count <= DataObject.longestValue else {
                    throw SPiDRefusal.malformed("value", "a text of at most \(DataObject.longestValue) bytes")
                }
                let (owner, caller) = (try await find(call), try call.caller)
                let object = try await objects.set(
                    key, to: value, of: owner, merchant: caller.contextClient.merchant, by: caller.writing(of: owner))
                return try await answer(object, call, status: .created)
            },
            SPiDRoute(.delete, path, name: "Delete \(name)", controller: controller, token: token) { call in
                let key = try Self.key(call)
                let (owner, caller) = (try await find(call), try call.caller)
                let isRemoved = try await objects.remove(
                    key, of: owner, merchant: caller.contextClient.merchant, by: caller.writing(of: owner))
                guard isRemoved else { throw Self.unknown }
                return .element("DataObject", .members(["success": true]))
            },
        ]
    }

    private static let unknown = SPiDRefusal(
        .notFound, "There is no data object of this key.", reason: "unknown_data_object")

    private static func key(_ call: SPiDCall) throws(SPiDRefusal) -> String {
        let key = call.path["key"] ?? ""
        guard (1...DataObject.longestKey).contains(key.utf8.count) else {
            throw .malformed("key", "a text of 1 to \(DataObject.longestKey) bytes")
        }
        return key
    }

    private func answer(_ object: DataObject, _ call: SPiDCall, status: Status = .ok) async throws -> SPiDAnswer {
        let merchant = try await merchants.number(of: try call.caller.contextClient.merchant)
        return .element("DataObject", object.member(merchant: merchant).value, status: status)
    }

    /// A user who has used the client. A user's token reaches only its own client's objects: what another client, such
    /// as a backend, keeps about the user is not the user's to read or change.
    @Sendable private func user(_ call: SPiDCall) async throws -> DataObject.Owner {
        let caller = try call.caller
        try caller.requireSPiDCompatible()
        try caller.requireOwnContext(for: "data objects")
        let user = try await finder.user(named: call.path["id"] ?? "", for: caller)
        _ = try await finder.findOfClient(user, for: caller)
        return DataObject.Owner(client: caller.contextClient.id, user: user)
    }

    /// The client itself.
    @Sendable private func client(_ call: SPiDCall) async throws -> DataObject.Owner {
        let caller = try call.caller
        guard call.path["id"] == caller.contextClient.id.text else { throw SPiDRefusal.unknownClient }
        return DataObject.Owner(client: caller.contextClient.id, user: nil)
    }

    @Sendable private func ofUser(_ call: SPiDCall) async throws -> SPiDAnswer {
        try await map(try await objects.list(of: try await user(call)), call)
    }

    @Sendable private func list(_ call: SPiDCall) async throws -> SPiDAnswer {
        let filters = try call.filters(known: ["merchant", "updated"])
        if filters.contains("merchant") { try call.caller.requireFirstParty() }
        var query = DataObjectQuery()
        query.key = call["key"]
        query.span = try call.span()
        query.part = try call.part()
        query.isByChange = filters.contains("updated")
        if let sort = call["sort"]?.lowercased() {
            guard ["asc", "desc"].contains(sort) else { throw SPiDRefusal.malformed("sort", "asc or desc") }
            query.isDescending = sort == "desc"
        }
        let scope = try call.caller.clientScope(isWide: filters.contains("merchant"))
        return try await map(try await objects.list(query, for: scope), call, offset: query.part.offset)
    }

    private func map(_ found: [DataObject], _ call: SPiDCall, offset: Int = 0) async throws -> SPiDAnswer {
        let merchant = try await merchants.number(of: try call.caller.contextClient.merchant)
        return .map("DataObject", found.map { $0.member(merchant: merchant) }, offset: offset)
    }
}
