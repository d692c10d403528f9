import HTTPTypes
import JOSE

/// `GET /api/2/endpoints`: what there is.
enum EndpointList {
    static func route(of routes: [SPiDRoute]) -> SPiDRoute {
        let list = routes.map(\.json)
        return SPiDRoute(
            .get, "endpoints", name: "Endpoints", controller: "Endpoint.list", caller: .anybody
        ) { _ in
            .collection("Endpoint", list)
        }
    }
}

extension SPiDRoute {
    fileprivate var json: JSON {
        .members([
            "path": .string("/" + path), "url": .string("/api/2/" + path), "method": .string(method.rawValue),
            "name": .string(name), "controller": .string("Api/2/" + controller),
            "access_token_types": .array(
                caller == .anybody ? [] : caller.rawValue.split(separator: ", ").map { .string(String($0)) }),
            "parameters": .members([
                "required": .array(required.map { .string($0) }), "optional": .array(optional.map { .string($0) }),
            ]),
        ])
    }
}
