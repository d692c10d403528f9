package import HTTP

/// A refusal that is nothing but a status: what it says, the error boundary knows.
package struct HTTPRefusal: Error {
    package let status: Status
    package let headers: Fields

    package init(_ status: Status, headers: Fields = [:]) {
        self.status = status
        self.headers = headers
    }
}
