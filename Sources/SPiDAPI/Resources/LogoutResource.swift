import HTTP
import JSON
public import OAuth
import SPiD
public import Values

/// `logout`: ends the token of the call and its refresh token, and for a user the sessions bought with it.
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
                .get, "logout", name: "Logout", controller: "User.logout", token: .either, reach: .everyToken
            ) { call in
                try await families.logOut(try call.caller.token, at: clock.now)
                return .element("User", "OK")
            }
        ]
    }
}
