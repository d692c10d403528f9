/// A group of routes: turns bytes into values, calls one domain function, renders the result. It holds no rule.
public protocol Endpoint: Sendable {
    func add(to router: inout Routes)
}
