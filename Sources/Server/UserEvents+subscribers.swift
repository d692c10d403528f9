import Authentication
import BrowserPages
import Cryptography
import Directory
import Federation
import HTTPSupport
import OAuth
import SPiD

extension UserEvents {
    /// All subscribers to user events, in the order in which they act.
    static func subscribers(_ callbacks: Callbacks, _ mail: MailComposer) -> [Subscriber] {
        [
            TokenFamilies.subscriber(telling: callbacks) { AppReturn.Address($0)?.client },
            callbacks.subscriber,
            Verifications.subscriber,
            KnownDevices.subscriber,
            IssuerSubjects.subscriber,
            PhoneVerification.subscriber,
            Agreements.subscriber,
            DataObjects.subscriber,
            UserMails(mail: mail).subscriber,
        ]
    }
}
