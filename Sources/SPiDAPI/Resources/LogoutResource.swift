import HTTP
import JSON
public import OAuth
public import Values

/// `logout`: ends the token it is called with, the refresh token beside it, and for a person the sessions bought with it.
public struct LogoutResource: SPiDResource {
    private let families: TokenFamilies
    private let clock: any WallClock

    public init(families: TokenFamilies, clock: any WallClock) {
        self.families = families
        self.clock = clock
    }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "logout", name: "Logout", controller: "User.logout", caller: .either, reach: .everyToken
            ) { call in
                try await families.logOut(try call.asking.token, at: clock.now)
                return .element("User", "OK")
            }
        ]
    }
}
