/// Tells an answer to the application's page, which has this one in a frame or opened it, if that page is of `origin`: by
/// a script, for nothing else can.
public struct WebMessagePage: PageContents {
    let origin: String
    let fields: [HiddenField]

    public init(origin: String, fields: [HiddenField]) {
        self.origin = origin
        self.fields = fields
    }
}
