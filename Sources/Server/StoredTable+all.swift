import Authentication
import Delivery
import Directory
import Ditto
import Federation
import Keys
import OAuth
import OpenID
import SPiD
public import Storage

extension StoredTable {
    /// Every table, children before their parents: the order in which rows are swept and deleted.
    public static let all =
        ofOAuth + ofAuthentication + ofFederation + ofSPiD + [Outbox.table, DittoWebhooks.table] + ofDirectory + ofKeys
        + [Facts.table]
}
