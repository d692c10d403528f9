@testable import Directory
import Cryptography
import JSON
import Testing

@testable import OAuth

@Suite("Signatures of SPiD's SDKs")
struct SignSecretTests {
    @Test("The signature of a SPiD message is made over its base64url-encoded data")
    func container() throws {
        let entry: (String) -> JSON = {
            .members([
                "order_id": .string($0), "changed_fields": "status", "time": "2012-09-30 13:21:43",
            ])
        }
        let signed = SignSecret("a274de").signed(
            .members(["object": "order", "entry": .array([entry("300014"), entry("300016")])]))
        #expect(signed.payload.hasPrefix("eyJvYmplY3Qi") && signed.payload.hasSuffix("X0"))
        #expect(signed.signature == "GTUVPjN1LzdyU1qwHjnMKS2oNxckfGzXWA6WOGHVOOg")
    }

    @Test("A signed request in SPiD's form is its signature and its payload, joined by a dot")
    func request() {
        let entry: JSON = .members([
            "orderId": "3176403", "changedFields": "status", "time": "2014-06-12 13:39:34",
        ])
        let signed = SignSecret("payment").signed(
            .members(["object": "order", "entry": .array([entry]), "algorithm": "HMAC-SHA256"]))
        #expect(signed.request == "Go3nym6YCKGSkoGAmNaBfnoEpTgLWXQPwm2rwtvMe0A.\(signed.payload)")
    }

    @Test("SPiD's hash of request parameters covers their values in the order of their names")
    func hash() {
        let secret = SignSecret("SignatureSecret")
        let hash = "uga44w13afsHV2XG31aELoopALuzUF2yyRffxpecLl0"
        let pairs = [("parameter2", "value2"), ("parameter3", "value3"), ("parameter1", "value1")]
            .map { (name: $0.0, value: $0.1) }
        #expect(secret.isHash(hash, of: pairs))
        #expect(!SignSecret("another").isHash(hash, of: pairs))
        #expect(!secret.isHash(hash + "=", of: pairs))
        #expect(!secret.isHash("", of: []))
        #expect(!secret.isHash(hash, of: pairs.map { ($0.name, $0.value.uppercased()) }))
    }

    /// The document's own example, however the nested map was sent.
    @Test(
        "SPiD's hash covers nested request parameters level by level, in whichever form they are sent",
        arguments: [
            [("a", "zebra"), ("x", "banana"), ("c[b]", "orange"), ("c[c]", "monkey"), ("c[a]", "sun"), ("b", "tree")],
            [("a", "zebra"), ("x", "banana"), ("c", #"{"b":"orange","c":"monkey","a":"sun"}"#), ("b", "tree")],
            [("x", "banana"), ("c[0]", "sun"), ("c[]", "orange"), ("c[]", "monkey"), ("b", "tree"), ("a", "zebra")],
            [("x", "banana"), ("c", #"["sun","orange","monkey"]"#), ("b", "a leaf"), ("b", "tree"), ("a", "zebra")],
        ])
    func nested(_ pairs: [(String, String)]) {
        let hash = "tRlGuWccK6oy4QqjPysJfXYgrPYPNso44FFmoYF47oA"
        #expect(SignSecret("foobar").isHash(hash, of: pairs.map { (name: $0.0, value: $0.1) }))
    }

    @Test("Request parameters of any form, even malformed, are joined to the text that SPiD's hash covers")
    func texts() {
        func text(_ pairs: (String, String)...) -> [String] {
            Array(HashedParameters.texts(of: pairs.map { (name: $0.0, value: $0.1) }))
        }
        #expect(text() == ["", ""])
        #expect(text(("a10", "3"), ("a2", "2"), ("a1", "1")) == ["123", "123"])
        #expect(text(("items", #"[{"b":2,"a":1.5},true,false,null,"x"]"#)).last == "1.521x")
        #expect(text(("items", "[broken"), ("j", "k")) == ["[brokenk", "[brokenk"])
        // A level is hashed where its name sorts: `a1` comes after `a`, though `a[x]` would come after `a1`.
        #expect(text(("a1", "2"), ("a[x]", "1")) == ["12", "12"])
        #expect(text(("a[", "1"), ("a]", "2"), ("[a]", "3"), ("a[b]c", "4"), ("a[b[c]]", "5")).first?.count == 5)
        #expect(text((String(repeating: "a[", count: 20_000) + "]", "1")) == ["1", "1"])
        #expect(text(("a" + String(repeating: "[b]", count: 10_000), "1")) == ["1", "1"])
        #expect(text(("é", "1"), ("z", "0")) == ["01", "01"])
    }

    @Test("SPiD's hash over a thousand parameters of one level is accepted; with one more it is refused")
    func mostHashed() {
        let secret = SignSecret("foobar")
        func isHash(_ count: Int) -> Bool {
            // An assertion's signature is made in the same way.
            let text = String(repeating: "x", count: count)
            let hash = Base64URL.encode(Digest.hmacSHA256(Array(text.utf8), key: Array("foobar".utf8)))
            return secret.isHash(hash, of: (0..<count).map { _ in (name: "a[]", value: "x") })
        }
        #expect(isHash(1000))
        #expect(!isHash(1001) && !isHash(12_500))
    }

    @Test("The hexadecimal signature of an app's assertion is accepted only whole and in lower case")
    func hexadecimal() {
        let secret = SignSecret("a274de")
        let text = Array("header.claims".utf8)
        let good = "887213fd875837755c189064cb3226294350eaa95ef332bfe265eb96a3480c97"
        #expect(secret.isHexSignature(good, of: text))
        #expect(!secret.isHexSignature(good.uppercased(), of: text))
        #expect(!secret.isHexSignature(String(good.dropLast()), of: text))
        #expect(!secret.isHexSignature(good, of: text + [0x0A]))
    }
}

@Suite("The natural order of names is that of PHP")
struct NaturalOrderTests {
    /// The order of PHP's `strnatcmp`.
    static let table: [(String, String, Int)] = [
        ("", "", 0), ("", "a", -1), ("a", "b", -1), ("a", "a", 0), ("a", "ab", -1), ("B", "a", -1),
        ("a2", "a10", -1), ("a10", "a10", 0), ("a9b", "a10a", -1), ("a10b", "a10a", 1), ("10", "9", 1),
        ("a2b", "a2", 1), ("a1", "a1a", -1), ("a", "a1", -1), ("1", "a", -1), ("a1b10", "a1b9", 1),
        // Leading zeros do not count, except for the last digit.
        ("007", "7", 0), ("007", "8", -1), ("0", "00", 0), ("0", "1", -1), ("00a", "0a", 0), ("010", "9", 1),
        // Elsewhere they begin decimal places, which are compared from the left.
        ("a01", "a1", -1), ("a02", "a010", 1), ("a01", "a010", -1), ("x0", "x1", -1), ("1.05", "1.5", -1),
        ("1.010", "1.02", -1),
        // White space does not count.
        ("a 1", "a1", 0), ("a  b", "ab", 0), (" a", "a", 0), ("a ", "a", 1), ("a\t\n2", "a10", -1), (" ", "", 1),
        ("item[2]", "item[10]", -1), ("é", "z", 1), ("a_b", "aB", 1),
    ]

    @Test("Parameter names sort in PHP's natural order, whichever of two is compared to the other", arguments: table)
    func compare(_ left: String, _ right: String, _ order: Int) {
        #expect(NaturalOrder.compare(left, right).signum() == order)
        #expect(NaturalOrder.compare(right, left).signum() == -order)
    }

    @Test("Comparing two parameter names in the opposite direction gives the opposite order")
    func antisymmetry() {
        let letters = ["0", "1", "2", "10", "00", "a", "B", " ", "[", "é"]
        let names = letters.flatMap { a in letters.flatMap { b in letters.map { c in a + b + c } } } + [""]
        for (index, left) in names.enumerated() where index % 7 == 0 {
            #expect(NaturalOrder.compare(left, left) == 0)
            for right in names {
                let pair = (NaturalOrder.compare(left, right).signum(), NaturalOrder.compare(right, left).signum())
                #expect(pair.0 == -pair.1, "\(left) and \(right)")
            }
        }
    }
}
