import HTTP

/// A refusal that is nothing but a status: what it says, the error boundary knows.
struct HTTPRefusal: Error {
    let status: Status
    let headers: Fields

    init(_ status: Status, headers: Fields = [:]) {
        self.status = status
        self.headers = headers
    }
}
