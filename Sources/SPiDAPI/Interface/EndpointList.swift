import HTTP
import JSON
import SPiD

/// `GET /api/2/endpoints`: the API's endpoints by path, as SPiD describes them.
enum EndpointList {
    /// The route of the list, which lists itself too.
    static func route(of routes: [SPiDRoute]) -> SPiDRoute {
        let own = SPiDRoute(
            .get, "endpoints", name: "List API endpoints", controller: "Utility.endpoints", token: .unread
        ) { _ in .collection("Endpoint", []) }
        let list = entries(of: routes + [own])
        return own.answering { _ in .collection("Endpoint", list) }
    }

    private static func entries(of routes: [SPiDRoute]) -> [JSON] {
        var paths: [String] = []
        for route in routes where !paths.contains(route.path) { paths.append(route.path) }
        return paths.map { path in
            let routes = routes.filter { $0.path == path }
            return .members([
                "path": .string(path), "url": .string("/api/2/" + path),
                "method": .string(routes.count == 1 ? routes[0].method.rawValue : "*"),
                "name": .string(routes[0].name), "controller": .string("Api/2/" + routes[0].controller),
                "httpMethods": .object(routes.map { JSON.Member($0.method.rawValue, $0.json) }),
                "pathParameters": .array(names(in: path)), "validOutputFormats": .array(["json"]),
                "defaultOutputFormat": "json",
            ])
        }
    }

    /// The names in braces.
    private static func names(in path: String) -> [JSON] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { .string(String($0.dropFirst().dropLast())) }
    }
}

extension SPiDRoute {
    fileprivate var json: JSON {
        .members([
            "name": .string(method.rawValue), "required": .array(required.map { .string($0) }),
            "optional": .array(optional.map { .string($0) }),
            "accessTokenTypes": .array(access.token.spidNames.map { .string($0) }),
        ])
    }

    /// This route with another answer.
    fileprivate func answering(_ answer: @escaping Answer) -> SPiDRoute {
        SPiDRoute(
            method, path, name: name, controller: controller, token: access.token, reach: access.reach,
            required: required, optional: optional, isStrict: isStrict, answer: answer)
    }
}
