/// Sends a response to the application's page that frames or opened this one, if that page is of `origin`. Only a
/// script can do that.
public struct WebMessagePage: PageContents {
    let origin: String
    let fields: [HiddenField]

    public init(origin: String, fields: [HiddenField]) {
        self.origin = origin
        self.fields = fields
    }
}
