/// A group of routes: turns bytes into values, calls one domain function, renders the result. It contains no rules.
public protocol Endpoint: Sendable {
    func add(to router: inout Routes)
}
