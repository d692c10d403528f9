public import Ditto

extension Administrator {
    public func permit(_ webhook: DittoWebhook, toBecome changed: DittoWebhook) throws {
        try permit(enabling: webhook.disabledAt != nil && changed.disabledAt == nil)
    }

    public func permit(deleting webhook: DittoWebhook) throws {
        try permit(enabling: webhook.disabledAt != nil)
    }
}
