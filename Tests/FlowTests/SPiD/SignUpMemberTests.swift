import JSON
import TestSupport
import Testing

@Suite("A sign-up keeps each member that SPiD's SDKs send, or refuses it")
struct SignUpMemberTests {
    private static let home =
        #"{"home":{"formatted":"Akersgata 55\n0180 Oslo","streetAddress":"Akersgata 55","postalCode":"0180","#
        + #""country":"NO","type":"home"}}"#

    @Test(
        "A sign-up keeps names in the words of the claims, a number, an address and links",
        arguments: Backend.available)
    func kept(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let answer = try await world.api(
                "signup", token,
                [
                    "email": "grace@example.com", "name": #"{"given_name":"Grace","family_name":"Hopper"}"#,
                    "phone_number": "+4740000002", "addresses": Self.home, "photo": "https://grace.example/me.png",
                    "url": "https://grace.example/", "displayName": "undisclosed", "gender": "undisclosed",
                ])
            #expect(answer.status == 201, "\(answer)")
            let user = try await world.api("user/\(answer.data["userId"]?.string ?? "")", token).data
            for shown in [answer.data, user] {
                #expect(shown["name"] == ["givenName": "Grace", "familyName": "Hopper", "formatted": "Grace Hopper"])
                #expect(shown["phoneNumber"] == "+4740000002" && shown["url"] == "https://grace.example/")
                #expect(shown["photo"] == "https://grace.example/me.png")
                #expect(shown["displayName"] == "undisclosed" && shown["gender"] == "undisclosed")
                #expect(
                    shown["addresses"] == [
                        "home": [
                            "formatted": "Akersgata 55\n0180 Oslo", "streetAddress": "Akersgata 55",
                            "postalCode": "0180", "country": "NO", "type": "home",
                        ]
                    ])
            }
        }
    }

    @Test("A sign-up with a member that could not be kept is 400, and creates no user", arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let bad: [(name: String, value: String)] = [
                ("shoeSize", "38"), ("utcOffset", "+02:00"), ("name[givenName]", "Grace"), ("redirect_uri", "x"),
                ("name", #"{"givenName":"Grace","middleName":"B"}"#),
                ("name", #"{"givenName":"Grace","given_name":"Ada"}"#), ("name", #"{"givenName":["Grace"]}"#),
                ("addresses", "Akersgata 55"), ("addresses", #"["Akersgata 55"]"#),
                ("addresses", #"{"home":{"country":"NO"},"work":{"country":"SE"}}"#), ("addresses", #"{"home":"NO"}"#),
                ("addresses", #"{"home":{"country":["NO"]}}"#), ("addresses", #"{"home":{"planet":"Mars"}}"#),
                ("photo", "javascript:alert(1)"), ("url", "data:text/html,x"),
                ("phone_number", String(repeating: "1", count: 501)),
            ]
            for (name, value) in bad {
                let form = [("email", "grace@example.com"), (name, value)]
                let answer = try await world.server.post("/api/2/signup", form: form, bearer: token)
                #expect(answer.status == 400, "\(name)=\(value): \(answer)")
                #expect(answer.spidError?.string?.contains(name.prefix(5)) == true, "\(name)=\(value): \(answer)")
            }
            let both = [("email", "grace@example.com"), ("phone_number", "+47 1"), ("phoneNumber", "+47 2")]
            #expect(try await world.server.post("/api/2/signup", form: both, bearer: token).status == 400)
            #expect(try await world.api("users?query=grace", token).data == [])
        }
    }

    @Test("Empty parameters, empty maps and the same number twice do not refuse a sign-up")
    func empty() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.clientToken(try await world.spidBackend())
            let forms: [[(String, String)]] = [
                [("shoeSize", ""), ("addresses", "[]")], [("addresses", "{}"), ("name", "{}")],
                [("addresses", #"{"home":{"type":"home","region":""}}"#), ("deviceData", "{}")],
                [("phone_number", "+47 1"), ("phoneNumber", "+47 1")], [("addresses", #"{"work":{"region":"Oslo"}}"#)],
                [("oauth_token", token)], [("access_token", token)],
            ]
            for (number, form) in forms.enumerated() {
                let bearer = form.contains { $0.1 == token } ? nil : token
                let answer = try await world.server.post(
                    "/api/2/signup", form: [("email", "grace\(number)@example.com")] + form, bearer: bearer)
                #expect(answer.status == 201, "\(form): \(answer)")
            }
        }
    }
}
