public import Directory
import HTTP
import JOSE
import OAuth
import SPiD
public import Values

/// `status` and `version`: whether the server is there, what it is, and what it can do.
public struct StatusResource: SPiDResource {
    private let version: String
    private let grantTypes: [GrantType]
    private let clock: any WallClock

    /// `version` is that of the program; `grantTypes` are those the token endpoint takes.
    public init(version: String, grantTypes: [GrantType], clock: any WallClock) {
        self.version = version
        self.grantTypes = grantTypes
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        // Apps post what they know of their device along when they start: it is not read.
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
