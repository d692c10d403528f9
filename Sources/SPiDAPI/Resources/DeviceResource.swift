public import Authentication
import Cryptography
public import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Values

/// `user/{id}/required_fields` and `devices`: what an app asks right after a sign-in.
public struct DeviceResource: SPiDResource {
    private let finder: UserFinder

    public init(connectedUsers: ConnectedUsers, connections: Connections, merchants: MerchantNumbers) {
        finder = UserFinder(connectedUsers: connectedUsers, connections: connections, merchants: merchants)
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "user/{id}/required_fields", name: "Required fields", controller: "User.required_fields",
                token: .either, answer: fields),
            SPiDRoute(
                .post, "devices", name: "Device", controller: "Device.device", token: .either,
                isForApps: true, optional: Self.parameters, answer: device),
        ]
    }

    /// The fields that the client asks of each user, and that this user lacks.
    @Sendable private func fields(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        try caller.requireSPiDCompatible()
        // The answer reveals what a user has, even what the user did not allow the client to see.
        try caller.requireFirstParty()
        let user = try await finder.user(named: call.path["id"] ?? "", for: caller)
        let profile = try await finder.findOfClient(user, for: caller).match.user.profile
        let missing = caller.contextClient.spid.requiredFields.filter { field in
            !field.claims.contains { profile[$0] != nil }
        }
        return .element("User", .members(["requiredFields": .array(missing.map { .string($0.rawValue) })]))
    }

    private static let parameters = ["deviceId", "platform", "applicationName", "applicationVersion"]
    /// In bytes of UTF-8.
    private static let longest = 500

    /// A hash of what the app says about the device, by which SPiD recognized it. It is not stored.
    @Sendable private func device(_ call: SPiDCall) async throws -> SPiDAnswer {
        let caller = try call.caller
        try caller.requireSPiDCompatible()
        let values = Self.parameters.map { call[$0] ?? "" }
        guard call["deviceId"] != nil, values.allSatisfy({ $0.utf8.count <= Self.longest }) else {
            throw SPiDRefusal(.badRequest, "Invalid payload data", reason: "malformed_device")
        }
        let payload = JSON.array(([caller.contextClient.id.text] + values).map { .string($0) })
        let hash = Hexadecimal.encode(Digest.sha256(payload.bytes))
        return .element("Device", .members(["hash": .string(hash)]))
    }
}

extension SPiDSettings.Field {
    /// The claims that satisfy the field.
    fileprivate var claims: [String] {
        switch self {
        case .givenName: ["given_name"]
        case .familyName: ["family_name"]
        case .birthday: ["birthdate"]
        // Users without a nickname are shown by their names.
        case .displayName: ["nickname", "name", "given_name", "family_name"]
        case .phoneNumber: ["phone_number"]
        }
    }
}
