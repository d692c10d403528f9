/// Posts a response to an application by a form (OAuth 2.0 Form Post Response Mode): automatically if scripts run,
/// otherwise by a button. Posts `fields` to `action`.
public struct FormPostPage: PageContents {
    let action: String
    let fields: [HiddenField]

    public init(action: String, fields: [HiddenField]) {
        self.action = action
        self.fields = fields
    }
}
