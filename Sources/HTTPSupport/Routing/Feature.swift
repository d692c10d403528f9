/// A part of the server that answers requests. Each surface has some; `Server/Composition.swift` lists them all.
public protocol Feature: Sendable {
    /// Its endpoints, in the order of their routes.
    var endpoints: [any Endpoint] { get }
}
