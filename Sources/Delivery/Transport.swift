import JSON
public import Mail
public import Outbound

/// Sends one kind of delivery to its receivers.
public protocol Transport: Sendable {
    var kind: Delivery.Kind { get }

    /// Delivers `content`, of `share`, or throws `Undeliverable`. The message id is the same at each attempt.
    func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws
}

/// Why an attempt failed. For the log: a reason contains neither an address nor content.
public enum Undeliverable: Error, Sendable, Equatable {
    /// No later attempt will succeed either.
    case refused(String)
    /// A later attempt may succeed.
    case temporary(String)
    /// Its receiver is busy: try again in a moment.
    case busy
    /// Its receiver is taking others: try again at once after those. `behind` is how many deliveries were put off
    /// since the receiver was last free.
    case inLine(behind: Int)
    /// Its receiver has failed this many times in a row, and gets one attempt at a time until it answers.
    case resting(failures: Int)
    /// Its receiver has failed, and so have this many of its share, some of which have the places.
    case crowded(failing: Int)
}

/// Delivers callbacks to clients' servers.
public struct CallbackTransport: Transport {
    private let outbound: Outbound
    private let address: @Sendable (_ client: String, Delivery.Share) async throws -> String?
    private let receivers = PerHostLimiter()

    /// `address` is where a client of this share wants its callbacks now; nil when it is gone, or wants none.
    public init(
        outbound: Outbound,
        address: @escaping @Sendable (_ client: String, Delivery.Share) async throws -> String?
    ) {
        self.outbound = outbound
        self.address = address
    }

    public var kind: Delivery.Kind { .callback }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        var callback = try Callback(stored: content)
        if let client = callback.client {
            // It may have waited for days, and the client may no longer want it.
            guard let url = try await address(client, share.whole) else { return }
            callback.url = url
        }
        let current = callback
        try await receivers.visit(current.url, of: share.whole) {
            // A server that is being set up, or set up wrong, may answer anything, and has the delivery's whole
            // lifetime to recover. Only 410 is likely to be final (RFC 9110 §15.5.11).
            try await outbound.deliver(current, of: share, isRefusal: { $0 == 410 })
        }
    }
}

extension Outbound {
    /// The limit of the response's body, which is not read.
    private static let longestAnswer = 64 * 1024

    /// Posts `callback` to its server, or throws `Undeliverable`; `isRefusal` says which statuses are final.
    func deliver(
        _ callback: Callback, of share: Delivery.Share, for purpose: OutboundPurpose = .delivery,
        isRefusal: (Int) -> Bool
    ) async throws {
        let status: Int
        do {
            let host = PerHostLimiter.host(of: callback.url)
            status = try await asking(for: purpose, by: share.whole.text, part: host).post(
                Array(callback.body.utf8), contentType: callback.contentType, signature: callback.signature,
                to: callback.url, limit: Self.longestAnswer
            ).status
        } catch {
            try Task.checkCancellation()
            if error.isOurs {
                // No server was asked, so this is no failure of the receiver. Given back at once, a backlog of
                // deliveries to names that hang would be taken and put back without pause.
                try await Task.sleep(for: DeliveryLimits.patience)
                throw Undeliverable.busy
            }
            throw Undeliverable.temporary(error.description)
        }
        guard !(200...299).contains(status) else { return }
        let reason = "the server answered \(status)"
        throw isRefusal(status) ? Undeliverable.refused(reason) : Undeliverable.temporary(reason)
    }
}

extension Callback {
    /// The stored form.
    var stored: String {
        JSON.members([
            "url": .string(url), "body": .string(body), "contentType": .string(contentType),
            "client": client.map { .string($0) },
        ]).text
    }

    init(stored: String) throws {
        let members = try StoredMembers(stored)
        self.init(
            url: try members.text("url"), body: try members.text("body"),
            contentType: try members.text("contentType"), client: members.optionalText("client"))
    }
}

/// Delivers mail through a mailer.
public struct MailTransport: Transport {
    private let mailer: any Mailer
    private let domains = RecipientDomains()

    public init(mailer: any Mailer) { self.mailer = mailer }

    public var kind: Delivery.Kind { .mail }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        let mail = try MailMessage(stored: content)
        do {
            let domain = mail.recipient.split(separator: "@").last ?? ""
            try await domains.send(to: String(domain), of: share.whole) { try await mailer.send(mail, messageID) }
        } catch MailFailure.refused(let reason) {
            throw Undeliverable.refused(reason)
        } catch MailFailure.temporary(let reason) {
            throw Undeliverable.temporary(reason)
        }
    }
}

extension MailMessage {
    /// The stored form, with what the log says of it.
    func stored(about: [String: String]) -> String {
        JSON.members([
            "recipient": .string(recipient), "subject": .string(subject), "text": .string(text), "html": .string(html),
            "about": about.isEmpty ? nil : .object(about.sorted { $0.key < $1.key }.map { .init($0, .string($1)) }),
        ]).text
    }

    static func about(stored: String) -> [String: String] {
        guard let members = try? JSON(parsing: Array(stored.utf8))["about"]?.members else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value.string ?? "") }) { $1 }
    }

    init(stored: String) throws {
        let members = try StoredMembers(stored)
        self.init(
            recipient: try members.text("recipient"), subject: try members.text("subject"),
            text: try members.text("text"), html: try members.text("html"))
    }
}

/// Delivers notices to clients' servers. A notice is written and signed when it is sent.
///
/// Writing may need a key from the database, and the content must be fresh on delivery, so neither happens when the
/// notice is stored.
public struct NoticeTransport: Transport {
    /// Makes the callback of a stored notice; nil when it is no longer needed.
    public typealias Write = @Sendable (_ notice: String) async throws -> Callback?

    private let outbound: Outbound
    private let write: Write
    private let receivers = PerHostLimiter()

    public init(outbound: Outbound, write: @escaping Write) {
        self.outbound = outbound
        self.write = write
    }

    public var kind: Delivery.Kind { .notice }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        guard let callback = try await write(content) else {
            throw Undeliverable.refused("the notice is no longer needed")
        }
        try await receivers.visit(callback.url, of: share.whole) {
            try await outbound.deliver(callback, of: share, isRefusal: Self.isRefusal)
        }
    }

    /// Back-Channel Logout §2.5: a notice that a client refused is not sent again, unless a later attempt may succeed.
    private static func isRefusal(_ status: Int) -> Bool {
        switch status {
        // Too slow, too early, too much.
        case 408, 425, 429: false
        case 400...499, 501: true
        default: false
        }
    }
}

/// Delivers text messages through a sender.
public struct TextTransport: Transport {
    private let sender: any TextSender

    public init(sender: any TextSender) { self.sender = sender }

    public var kind: Delivery.Kind { .text }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        try await sender.send(try TextMessage(stored: content), messageID)
    }
}

/// Writes each text message as a file of JSON into a folder: for development, and for programs that send it from there.
public struct TextFolder: TextSender {
    private let folder: OutboxFolder

    public init(path: String) { folder = OutboxFolder(path: path) }

    public func send(_ message: TextMessage, _ messageID: MessageID) async throws {
        do {
            try await folder.write(message.document(messageID).bytes, as: "sms.json", named: messageID.id)
        } catch MailFailure.refused(let reason) {
            throw Undeliverable.refused(reason)
        } catch MailFailure.temporary(let reason) {
            throw Undeliverable.temporary(reason)
        }
    }
}
