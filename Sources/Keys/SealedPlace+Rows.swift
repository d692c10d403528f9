import Storage

extension SealedPlace {
    /// Every row of this place that keeps a sealed value, as `id` and `sealed`.
    var sealedRows: SQL {
        switch self {
        case .signingKey: "SELECT id, sealed_private_key AS sealed FROM signing_keys"
        case .signSecret: "SELECT id, sealed_sign_secret AS sealed FROM clients WHERE sealed_sign_secret <> ''"
        case .issuerSecret: "SELECT id, sealed_secret AS sealed FROM issuers WHERE sealed_secret IS NOT NULL"
        case .appSecret: "SELECT id, sealed_app_secret AS sealed FROM issuers WHERE sealed_app_secret IS NOT NULL"
        case .upstreamSecret:
            "SELECT id, sealed_client_secret AS sealed FROM issuers WHERE sealed_client_secret IS NOT NULL"
        case .webhookSecrets: "SELECT id, sealed_secrets AS sealed FROM webhooks WHERE sealed_secrets IS NOT NULL"
        case .delivery: "SELECT id, sealed_content AS sealed FROM deliveries"
        }
    }

    /// Puts another sealed value into `row`.
    func replacement(_ sealed: String, row: String) -> SQL {
        switch self {
        case .signingKey: "UPDATE signing_keys SET sealed_private_key = \(sealed) WHERE id = \(row)"
        case .signSecret: "UPDATE clients SET sealed_sign_secret = \(sealed) WHERE id = \(row)"
        case .issuerSecret: "UPDATE issuers SET sealed_secret = \(sealed) WHERE id = \(row)"
        case .appSecret: "UPDATE issuers SET sealed_app_secret = \(sealed) WHERE id = \(row)"
        case .upstreamSecret: "UPDATE issuers SET sealed_client_secret = \(sealed) WHERE id = \(row)"
        case .webhookSecrets: "UPDATE webhooks SET sealed_secrets = \(sealed) WHERE id = \(row)"
        case .delivery: "UPDATE deliveries SET sealed_content = \(sealed) WHERE id = \(row)"
        }
    }
}
