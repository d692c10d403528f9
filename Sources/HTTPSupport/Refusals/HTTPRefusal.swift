package import HTTP

/// A refusal with a status only. The error boundary adds the text.
package struct HTTPRefusal: Error {
    package let status: Status
    package let headers: Fields

    package init(_ status: Status, headers: Fields = [:]) {
        self.status = status
        self.headers = headers
    }
}
