import BrowserPages
import HTTP
import Keys
import Logging
import Mail
import Pages
import Values

/// What a server in development mode has besides: the memory of its mails and requests, and what fills it. Other
/// servers are built without.
struct DevelopmentParts: Sendable {
    let memory: DevelopmentMemory
    let secrets: DevelopmentSecrets
    let mailer: any Mailer
    /// The logger of requests, whose lines give the reasons of refusals.
    let logger: Logger

    /// Nil except in development mode, which the pages decide: no server has this without the banner.
    init?(_ parts: Parts) {
        guard parts.templates.isDevelopment else { return nil }
        memory = DevelopmentMemory(clock: parts.clock)
        secrets = DevelopmentSecrets(parts.masterKey)
        mailer = DevelopmentMailer(
            mailer: parts.mailer, memory: memory, clock: parts.clock, console: parts.console)
        logger = parts.logger.replacing(DevelopmentRouter.sink)
    }

    /// - Parameter router: logs to `logger`.
    func handler(over router: any RequestHandler) -> any RequestHandler {
        DevelopmentRouter(router, memory: memory)
    }
}

/// Shows each mail to the developer, and sends it.
private struct DevelopmentMailer: Mailer {
    let mailer: any Mailer
    let memory: DevelopmentMemory
    let clock: any WallClock
    let console: @Sendable (String) -> Void

    func send(_ mail: MailMessage, _ messageID: MessageID) async throws {
        let shown = DevelopmentMail(
            recipient: mail.recipient, subject: mail.subject, text: mail.text, at: clock.now)
        memory.mails.add(shown)
        console(shown.summary)
        try await mailer.send(mail, messageID)
    }
}

extension DevelopmentSecrets {
    init(_ masterKey: MasterKey) { self.init(key: masterKey.key(for: "development_secrets")) }
}
