package import Storage
public import Values

/// A right that only some kinds of client have. docs/model.md explains each.
public enum ClientRight: String, Sendable, CaseIterable {
    // Users and their consent
    case skipConsent, shareWithMerchant, seeUsersUnasked, ignoreScope, takeAttributes, actForUsers, passWebhooks
    case frameSignIn
    // Codes and web views
    case buyCodes, redeemExchangeCodes, takeCodesOfAnyClient, takeCodesOfItself, receiveSessions, showAccountInWebViews
    // What requires trust in what the client says about itself
    case belongToMerchant, bearMerchantsName, sendBrowsersOn, takeTokensInURLs, skipImplicitGrant, shareSigningSecret
    // What requires a secret, or its absence
    case actForItself, introspect, revokeForOthers, omitChallenge, useLocalPortUnseen, varyPort, refreshInTabs
    case signBySecret, signInVisitors
    // What requires a secret that only a server keeps
    case administer, keepRefreshTokens, answerForItself, reachUsers, outliveApps
    // SPiD's API and scripts
    case keepTokensAfterSessions, useSPiDAPI, askAboutUsers, writeUsers, actForOtherClients, callBySecret
    case introspectByToken, refreshOwnTokens, redeemCodesTwice, mailCodes, sendProviderTokens, useSPiDScripts
    // SPiD's dialect
    case haveSPiDSettings, sendTokensInURLs, sendFormsInParts, getSPiDAnswers, omitIssuer, varyAddresses, askAsSPiD

    /// The table of the kinds of client that have each right.
    fileprivate var holders: Holders {
        switch self {
        case .skipConsent: Holders(.own)
        case .shareWithMerchant: Holders(.own)
        case .seeUsersUnasked: Holders(.own)
        case .ignoreScope: Holders(.none, spid: .own)
        case .takeAttributes: Holders(.own)
        case .actForUsers: Holders(.own)
        case .passWebhooks: Holders(.own)
        case .frameSignIn: Holders(.own)

        case .buyCodes: Holders(.own)
        case .redeemExchangeCodes: Holders(.own)
        case .takeCodesOfAnyClient: Holders(.any, custody: .onServer)
        case .takeCodesOfItself: Holders(.none, spid: .any, custody: .secret)
        case .receiveSessions: Holders(.vouchedFor)
        case .showAccountInWebViews: Holders(.none, spid: .own)

        case .belongToMerchant: Holders(.vouchedFor)
        case .bearMerchantsName: Holders(.vouchedFor)
        case .sendBrowsersOn: Holders(.vouchedFor)
        case .takeTokensInURLs: Holders(.vouchedFor)
        case .skipImplicitGrant: Holders(.vouchedFor)
        case .shareSigningSecret: Holders(.vouchedFor)

        case .actForItself: Holders(.any, custody: .secret)
        case .introspect: Holders(.any, custody: .secret)
        case .revokeForOthers: Holders(.any, custody: .secret)
        case .omitChallenge: Holders(.any, custody: .secret)
        case .useLocalPortUnseen: Holders(.any, custody: .secret)
        case .varyPort: Holders(.any, custody: .none)
        case .refreshInTabs: Holders(.any, custody: .none)
        case .signBySecret: Holders(.any, custody: .secret)
        case .signInVisitors: Holders(.any, custody: .secret)

        case .administer: Holders(.any, custody: .onServer)
        case .keepRefreshTokens: Holders(.any, custody: .onServer)
        case .answerForItself: Holders(.any, custody: .onServer)
        case .reachUsers: Holders(.any, custody: .onServer)
        case .outliveApps: Holders(.any, custody: .onServer)

        case .keepTokensAfterSessions: Holders(.own, spid: .any)
        case .useSPiDAPI: Holders(.own, spid: .any)
        case .askAboutUsers: Holders(.none, spid: .any)
        case .writeUsers: Holders(.none, spid: .any)
        case .actForOtherClients: Holders(.none, spid: .own)
        case .callBySecret: Holders(.none, spid: .any, custody: .secret)
        case .introspectByToken: Holders(.none, spid: .any, custody: .secret)
        case .refreshOwnTokens: Holders(.none, spid: .any, custody: .secret)
        case .redeemCodesTwice: Holders(.none, spid: .any, custody: .secret)
        case .mailCodes: Holders(.none, spid: .any)
        case .sendProviderTokens: Holders(.none, spid: .any)
        case .useSPiDScripts: Holders(.none, spid: .any)

        case .haveSPiDSettings: Holders(.none, spid: .any)
        case .sendTokensInURLs: Holders(.none, spid: .any)
        case .sendFormsInParts: Holders(.none, spid: .any)
        case .getSPiDAnswers: Holders(.none, spid: .any)
        case .omitIssuer: Holders(.none, spid: .any)
        case .varyAddresses: Holders(.none, spid: .any)
        case .askAsSPiD: Holders(.none, spid: .any)
        }
    }
}

/// The kinds of client that have a right: those with one of these owners and this custody. SPiD's clients may have
/// other owners.
private struct Holders {
    let standard: Owners
    let spid: Owners
    let custody: Custodies

    init(_ owners: Owners, spid: Owners? = nil, custody: Custodies = .any) {
        standard = owners
        self.spid = spid ?? owners
        self.custody = custody
    }

    enum Owners {
        case any
        /// The platform's or a merchant's own: `first_party`.
        case own
        /// All but those that registered themselves.
        case vouchedFor
        case none

        func contain(_ owner: ClientKind.Owner) -> Bool {
            switch (self, owner) {
            case (.any, _): true
            case (.own, .platform), (.own, .merchant): true
            case (.own, _): false
            case (.vouchedFor, .registeredItself): false
            case (.vouchedFor, _): true
            case (.none, _): false
            }
        }
    }

    enum Custodies {
        case any
        case none
        case secret
        case onServer

        func contain(_ custody: ClientKind.Custody) -> Bool {
            switch self {
            case .any: true
            case .none: custody == .none
            case .secret: custody != .none
            case .onServer: custody == .onServer
            }
        }
    }
}

// MARK: Who has a right

extension ClientKind {
    public func may(_ right: ClientRight) -> Bool {
        let holders = right.holders
        let owners = dialect == .spid ? holders.spid : holders.standard
        return owners.contain(owner) && holders.custody.contain(custody)
    }
}

extension Client {
    /// Nil for the platform's own clients.
    public var merchant: Merchant.ID? { kind.merchant }

    public func may(_ right: ClientRight) -> Bool { kind.may(right) }

    /// Whether the client may see and revoke tokens of `other`, a client of `merchant`. A third party's client sees
    /// only its own: its users allowed it a scope, not a view of what they do at the merchant.
    package func sees(tokensOf other: ID, of merchant: Merchant.ID?) -> Bool {
        may(.shareWithMerchant) ? Merchant.same(self.merchant, merchant) : id == other
    }

    /// The share that pays for requests to other servers that this client causes: its merchant's.
    public var outboundShare: String { kind.outboundShare }

    /// The share that its users' data count against: its merchant's, or its own if it is a third party's.
    package var shareOfUser: String {
        if case .thirdParty = kind.owner { id.text } else { outboundShare }
    }
}

// MARK: In SQL

extension ClientRight {
    /// Whether `client`, the alias of a row of `clients` in a statement, has the right.
    package func held(by client: SQL) -> SQL {
        let holders = holders
        let owner =
            holders.standard == holders.spid
            ? holders.standard.condition(of: client)
            : """
            CASE \(client).spid_compatible WHEN 1 THEN \(holders.spid.condition(of: client))
                ELSE \(holders.standard.condition(of: client)) END
            """
        return holders.custody == .any ? owner : "(\(owner) AND \(holders.custody.condition(of: client)))"
    }
}

extension Holders.Owners {
    fileprivate func condition(of client: SQL) -> SQL {
        switch self {
        case .any: .always
        case .own: "\(client).first_party = 1"
        case .vouchedFor: "\(client).registration_token IS NULL"
        case .none: "1 = 0"
        }
    }
}

extension Holders.Custodies {
    fileprivate func condition(of client: SQL) -> SQL {
        switch self {
        case .any: .always
        case .none: "\(client).custody = 'none'"
        case .secret: "\(client).custody <> 'none'"
        case .onServer: "\(client).custody = 'on_server'"
        }
    }
}
