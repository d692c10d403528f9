public import Directory
import HTTP
import JSON
import OAuth
import SPiD
public import Values

/// `status` and `version`: that the server is up, its version, and its grant types.
public struct StatusResource: SPiDResource {
    private let version: String
    private let grantTypes: [GrantType]
    private let clock: any WallClock

    /// `version` is the program's; `grantTypes` are those of the token endpoint.
    public init(version: String, grantTypes: [GrantType], clock: any WallClock) {
        self.version = version
        self.grantTypes = grantTypes
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        // Apps POST data about their device when they start: it is not read.
        [HTTP.Method.get, .post].map { method in
            SPiDRoute(
                method, "status", name: "Platform status", controller: "Platform.status", token: .unread
            ) { _ in .element("Platform", .object(versions + status)) }
        } + [
            SPiDRoute(
                .get, "version", name: "Platform version", controller: "Platform.version", token: .unread
            ) { _ in .element("Platform", .object(versions)) }
        ]
    }

    private var versions: [JSON.Member] {
        [
            .init("apiVersion", 2), .init("apiRevision", "0"), .init("webVersion", .string(version)),
            .init("currentTime", .string(clock.now.spidText)), .init("timeZone", "UTC"),
        ]
    }

    private var status: [JSON.Member] {
        [
            .init(
                "oauth",
                .members([
                    "flows": "redirect|native|webview",
                    "grantTypes": .string(grantTypes.map(\.name).joined(separator: "|")),
                ])), .init("platform", "up"), .init("block", false),
        ]
    }
}
