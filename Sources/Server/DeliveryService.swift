import Delivery
import Directory
import Mail
import OAuth
import OpenID
import Outbound
import Values

/// Sends what waits in the outbox: at once when nudged, and every two seconds for what other nodes left or what is due
/// again.
///
/// First in the list of services, so that it ends last and still sends what the last requests queued.
struct DeliveryService: BackgroundService {
    let outbox: Outbox
    /// One worker per kind of delivery, so that a slow mail server does not delay callbacks.
    let routes: [DeliveryWorker]

    private static let interval: Duration = .seconds(2)
    /// How long running attempts may take during shutdown. Then they are cancelled and given back, while the database
    /// still accepts writes (`BackgroundServices.inTheLastSecond`), so that the next server sends them at once.
    private static let longestEnd: Duration = .seconds(7)

    init(
        outbox: Outbox, mailer: any Mailer, texts: (any TextSender)?, outbound: Outbound, logouts: LogoutTokens,
        events: SecurityEventTokens, clients: Clients
    ) {
        self.outbox = outbox
        var routes = [
            DeliveryWorker(outbox, by: MailTransport(mailer: mailer)),
            DeliveryWorker(
                outbox,
                by: CallbackTransport(
                    outbound: outbound,
                    address: { id, share in
                        guard let client = try await clients.find(Client.ID(id)),
                            Delivery.Share(client.merchant) == share
                        else { return nil }
                        return client.callbackURI
                    })),
            DeliveryWorker(
                outbox,
                by: NoticeTransport(outbound: outbound) { stored in
                    guard let event = MerchantEvent(stored) else { return try await logouts.callback(stored) }
                    return try await events.message(for: event).map { uri, token in
                        Callback(url: uri, body: token, contentType: SecurityEventTokens.contentType)
                    }
                }),
        ]
        if let texts { routes.append(DeliveryWorker(outbox, by: TextTransport(sender: texts))) }
        self.routes = routes
    }

    func run(until stop: StopSignal) async {
        await withTaskGroup { group in
            group.addTask {
                await withDiscardingTaskGroup { workers in
                    for route in routes { workers.addTask { await route.run() } }
                }
            }
            group.addTask {
                await stop.cancelling {
                    while !Task.isCancelled {
                        outbox.nudge()
                        try? await Task.sleep(for: Self.interval)
                    }
                }
                outbox.close()
                try? await Task.sleep(for: Self.longestEnd)
            }
            // All attempts have ended, or their time is over.
            await group.next()
            group.cancelAll()
        }
    }
}

extension LogoutTokens {
    /// The callback for a stored logout notice, which is signed only when it is sent.
    @Sendable fileprivate func callback(_ stored: String) async throws -> Callback? {
        guard let notice = LogoutNotice(stored) else {
            throw Undeliverable.refused("its content is not what this program stores")
        }
        do {
            return try await message(for: notice).map {
                Callback(url: $0.uri, body: $0.form, contentType: Message.contentType)
            }
        } catch is ClientIsDisabled {
            throw Undeliverable.temporary("its client is disabled")
        }
    }
}
