import Foundation
import Pages

/// A sample of each page in each of its states, and of each mail, with `value` for every value in it.
struct PageSamples {
    let value: String
    let templates: Templates
    let language: Language

    var frame: Frame {
        Frame(language: language, brand: Brand(name: value, logoURI: value, stylesheet: value))
    }

    var all: [String: String] {
        [signingIn, refused, sessions, account, applications, messages, mails, development]
            .reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }

    private var signingIn: [String: String] {
        var pages = [
            "login": login(nil), "signUp": signUp(nil),
            "confirmation": templates.login(
                LoginPage(action: value, formToken: value, continueTo: value, email: value, isConfirmation: true),
                in: frame),
            "forgotten": templates.forgotten(
                ForgottenPage(
                    action: value, formToken: value, continueTo: value, email: value, refusal: .notAnAddress), in: frame
            ),
            "newPassword": templates.newPassword(
                NewPasswordPage(action: value, formToken: value, email: value, refusal: .weakPassword(.common)),
                in: frame),
            "verify": templates.verify(
                VerifyPage(
                    action: value, formToken: value, continueTo: value, email: value,
                    refusal: .tooManyAttempts(seconds: 90)), in: frame),
        ]
        for name in [value, nil] {
            pages["confirmAddress \(name == nil)"] = templates.confirmAddress(
                ConfirmAddressPage(
                    action: value, formToken: value, email: value, clientName: name, refusal: .wrongPassword),
                in: frame)
        }
        for asks in [true, false] {
            pages["signUpConfirm \(asks)"] = templates.signUpConfirm(
                SignUpConfirmPage(
                    action: value, formToken: value, email: value, asksPassword: asks,
                    terms: [TermsLink(uri: value, owner: value)],
                    refusal: .weakPassword(.personal)),
                in: frame)
        }
        for purpose in CodePage.Purpose.allCases {
            pages["code \(purpose)"] = templates.code(
                CodePage(
                    action: value, formToken: value, verification: value, continueTo: value, email: value,
                    purpose: purpose, startOver: value, refusal: .wrongCode(triesLeft: 3)), in: frame)
            pages["phoneCode \(purpose)"] = templates.phoneCode(
                CodePage(
                    action: value, formToken: value, verification: value, continueTo: value, email: value,
                    purpose: purpose, startOver: value, refusal: .wrongCode(triesLeft: 0)), in: frame)
        }
        return pages
    }

    private func login(_ refusal: PageRefusal?) -> String {
        templates.login(
            LoginPage(
                action: value, formToken: value, continueTo: value, email: value, clientName: value, wantsAnew: true,
                ways: [SignInWay(name: value, address: value)], cancel: .init(action: value, request: value),
                refusal: refusal), in: frame)
    }

    private func signUp(_ refusal: PageRefusal?) -> String {
        templates.signUp(
            SignUpPage(
                action: value, formToken: value, continueTo: value, email: value, name: value, clientName: value,
                ways: [SignInWay(name: value, address: value)], refusal: refusal), in: frame)
    }

    private var refused: [String: String] {
        let refusals: [PageRefusal] =
            [
                .wrongCredentials, .tooManyAttempts(seconds: 0), .tooManyAttempts(seconds: 1000), .overloaded,
                .wrongPassword, .notAnAddress, .wrongCode(triesLeft: 0), .nothingAllowed,
            ] + ProfileField.allCases.flatMap { [.tooLong(in: $0), .unfitText(in: $0)] }
            + PasswordFault.allCases.map { .weakPassword($0) }
        return refusals.reduce(into: [:]) { pages, refusal in
            pages["login \(refusal)"] = login(refusal)
            pages["signUp \(refusal)"] = signUp(refusal)
        }
    }

    private var sessions: [String: String] {
        [
            "signedIn": templates.signedIn(
                SignedInPage(account: value, formToken: value, logoutAction: value), in: frame),
            "logout": templates.logout(
                LogoutPage(
                    account: value, action: value, formToken: value, leaving: value,
                    fields: [HiddenField(name: value, value: value)], unregistered: value),
                in: frame),
            "signedOut": templates.signedOut(SignedOutPage(), in: frame),
            "signedOut of one": templates.signedOut(SignedOutPage(leaving: value, unregistered: value), in: frame),
            "switchAccount": templates.switchAccount(
                SwitchAccountPage(current: value, other: value, action: value, formToken: value), in: frame),
            "switchAccount from nobody": templates.switchAccount(
                SwitchAccountPage(current: nil, other: value, action: value, formToken: value), in: frame),
        ]
    }

    private var account: [String: String] {
        var pages: [String: String] = [
            "restore": templates.restore(
                RestorePage(action: value, formToken: value, verification: value, continueTo: value, dueAt: value),
                in: frame),
            "account": account(nil, hasPassword: false),
        ]
        for adding in [PhonesPage.Adding.possible, .unverified, .unavailable] {
            for notice in PhonesPage.Notice.allCases {
                pages["phones \(adding) \(notice)"] = templates.phones(
                    PhonesPage(
                        action: value, formToken: value, phone: notice == .added ? value : nil, account: value,
                        adding: adding, typed: value, notice: notice, refusal: .notAPhoneNumber), in: frame)
            }
        }
        for days in 0...2 {
            pages["deleteAccount \(days)"] = templates.deleteAccount(
                DeleteAccountPage(
                    action: value, formToken: value, email: value, graceDays: days, asksPassword: days > 0,
                    refusal: .wrongPassword), in: frame)
        }
        for notice in AccountPage.Notice.allCases { pages["account \(notice)"] = account(notice) }
        for form in AccountPage.Form.allCases {
            pages["account \(form)"] = account(nil, refusal: (form, .weakPassword(.personal)))
        }
        for field in ProfileField.allCases {
            pages["account \(field)"] = account(nil, refusal: (.profile, .tooLong(in: field)))
        }
        return pages
    }

    private func account(
        _ notice: AccountPage.Notice?, hasPassword: Bool = true,
        refusal: (AccountPage.Form, PageRefusal)? = nil
    ) -> String {
        let profile = Profile(
            email: value, emailVerified: !hasPassword, hasPassword: hasPassword, name: value, givenName: value,
            familyName: value, phoneNumber: value, locale: value)
        let sessions = [nil, value].map { device in
            SessionItem(
                id: value, device: device, address: value, signedInAt: value, seenAt: value, isCurrent: device == nil,
                remembered: true)
        }
        let app = AppItem(
            client: value, name: value, merchantName: value, scopes: [.init(name: value), .init(name: "email")],
            since: value)
        return templates.account(
            AccountPage(
                account: profile, formToken: value, back: .init(name: value, address: value), returnQuery: value,
                sessions: sessions, apps: [app],
                links: [LinkItem(issuer: value, subject: value, name: value, since: value)],
                connectable: [ConnectableItem(issuer: value, name: value)], newEmail: value, notice: notice,
                refusal: refusal), in: frame)
    }

    private var applications: [String: String] {
        let known = ["openid", "profile", "email", "phone", "address", "offline_access"]
        let scopes = (known + [value]).map { ConsentPage.Scope(name: $0, isRequired: $0 == "openid") }
        return [
            "consent": templates.consent(
                ConsentPage(
                    clientName: value, maker: .merchant(value), scopes: scopes, action: value, formToken: value,
                    request: value, account: value, switchTo: value, refusal: .nothingAllowed), in: frame),
            "pick": templates.pick(
                PickPage(
                    clientName: value,
                    choices: [
                        .init(session: value, name: value, address: "ada@example.com"),
                        .init(session: value, name: nil, address: value),
                    ], action: value, formToken: value, request: value, cancel: .init(action: value, request: value)),
                in: frame),
            "introduction": introduction(isFirst: true), "introduction on a device": introduction(isFirst: false),
            "formPost": templates.formPost(
                FormPostPage(action: value, fields: [HiddenField(name: value, value: value)]), in: frame),
            "webMessage": templates.webMessage(
                WebMessagePage(origin: value, fields: [HiddenField(name: value, value: value)]), in: frame),
        ]
    }

    private func introduction(isFirst: Bool) -> String {
        templates.introduction(
            IntroductionPage(
                clientName: value, merchantName: isFirst ? value : nil, isFirst: isFirst, action: value,
                formToken: value, request: value, account: value, switchTo: value), in: frame)
    }

    private var messages: [String: String] {
        MessagePage.Topic.allCases.reduce(into: [:]) { pages, topic in
            let names = ["email", "again", "dueAt", "continueTo", "name", "signUp"]
            let values = Dictionary(uniqueKeysWithValues: names.map { ($0, value) })
            pages["message \(topic)"] = templates.message(
                MessagePage(topic: topic, values: values, detail: value, reference: value), in: frame)
        }
    }

    private var mails: [String: String] {
        Self.letters(value).reduce(into: [:]) { mails, letter in
            mails["mail \(letter.name)"] = templates.mails(letter.letter, in: frame).html
        }
    }

    static func letters(_ value: String) -> [(name: String, letter: MailTemplate)] {
        [
            ("signInCode", .signInCode(code: value, minutes: 10)),
            ("signUpCode", .signUpCode(code: value, link: value, minutes: 30)),
            ("signUpExisting", .signUpExisting(signInLink: value, resetLink: value)),
            ("verifyEmail", .verifyEmail(code: value, minutes: 10)),
            ("changeEmailCode", .changeEmailCode(code: value, minutes: 10)),
            ("emailChanged", .emailChanged(newAddress: value)),
            ("resetPassword", .resetPassword(link: value, hours: 24)),
            ("passwordChanged", .passwordChanged(resetLink: value)),
            ("signInLinked", .signInLinked(provider: "Facebook", link: value)),
            ("confirmAddress", .confirmAddress(link: value, days: 7)),
            ("choosePassword", .choosePassword(link: value, hours: 24)),
            ("deletionScheduled", .deletionScheduled(dueAt: value, signInLink: value)),
            ("accountDeleted", .accountDeleted),
        ]
    }
}
