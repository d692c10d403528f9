/// The last mails of a server in development mode.
public struct DevelopmentMailsPage: PageContents {
    public struct Mail: Sendable {
        let recipient: String
        let subject: String
        let time: String
        let code: String?
        let links: [String]
        let text: String

        public init(recipient: String, subject: String, time: String, code: String?, links: [String], text: String) {
            self.recipient = recipient
            self.subject = subject
            self.time = time
            self.code = code
            self.links = links
            self.text = text
        }
    }

    let mails: [Mail]

    public init(mails: [Mail]) { self.mails = mails }

    func words(_ texts: Texts) -> [String: Any] { ["hasMails": !mails.isEmpty] }
}
