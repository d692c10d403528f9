public import Directory
public import Storage

/// Who makes, changes and deletes webhooks.
public protocol WebhookAuthority: Authority {
    /// Whether it takes the names of other merchants' webhooks that are gone.
    var takesNames: Bool { get }
    /// Throws when it may not make `webhook`, which is stored by now.
    func permit(registering webhook: DittoWebhook, in db: any Transaction) throws
    /// Throws when it may not make of `webhook` what it would become.
    func permit(changing webhook: DittoWebhook, to changed: DittoWebhook) throws
    func permit(deleting webhook: DittoWebhook) throws
}
