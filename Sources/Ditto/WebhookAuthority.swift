public import Directory
public import Storage

/// An authority that creates, changes and deletes webhooks.
public protocol WebhookAuthority: Authority {
    /// Whether it may take the names of other merchants' deleted webhooks.
    var takesNames: Bool { get }
    /// Throws unless it may create `webhook`, which is already stored.
    func permit(registering webhook: DittoWebhook, in db: any Transaction) throws
    /// Throws unless it may change `webhook` to `changed`.
    func permit(changing webhook: DittoWebhook, to changed: DittoWebhook) throws
    func permit(deleting webhook: DittoWebhook) throws
}
