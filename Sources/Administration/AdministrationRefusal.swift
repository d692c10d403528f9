/// Something that an administrator may not do, although they may do other things.
public struct AdministrationRefusal: Error, Sendable {
    public let detail: String
    /// The member of the document that is at fault.
    public let member: String?

    public init(_ detail: String, member: String? = nil) {
        self.detail = detail
        self.member = member
    }
}
