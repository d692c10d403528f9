// Command gateway is a relying party that treats its OpenID Provider as Couchbase Sync Gateway does, by the library
// that Sync Gateway uses: for the tests. `gateway CONFIG.json` prints the address it listens on, and serves until it is
// ended.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

// A config is the file that the program is started with, in the words of Sync Gateway's.
type config struct {
	Default   string               `json:"default_provider"`
	Providers map[string]*provider `json:"providers"`
}

type gateway struct {
	config
	clock *clock
	trace *trace
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gateway CONFIG.json")
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	g := &gateway{clock: &clock{}, trace: &trace{}}
	if err := json.NewDecoder(file).Decode(&g.config); err != nil {
		log.Fatal(err)
	}
	for name, p := range g.Providers {
		p.name, p.clock, p.trace = name, g.clock, g.trace
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, g))
}

// failure is a refusal with the status that Sync Gateway answers it with.
type failure struct {
	status int
	reason string
}

func (f *failure) Error() string { return f.reason }

func refuse(status int, format string, values ...interface{}) error {
	return &failure{status, fmt.Sprintf(format, values...)}
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.Method + " " + r.URL.Path {
	case "GET /db/_oidc":
		err = g.login(w, r, false)
	case "GET /db/_oidc_challenge":
		err = g.login(w, r, true)
	case "GET /db/_oidc_callback":
		err = g.callback(w, r)
	case "GET /db/_oidc_refresh":
		err = g.refresh(w, r)
	case "POST /db/_session":
		err = g.session(w, r)
	case "GET /db/":
		err = g.whoami(w, r)
	case "POST /test/clock":
		err = g.clock.set(r.URL.Query().Get("ahead"))
	case "GET /test/trace":
		answer(w, g.trace.take())
	default:
		err = refuse(404, "nothing here")
	}
	if err == nil {
		return
	}
	status := 500
	if f, ok := err.(*failure); ok {
		status = f.status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": http.StatusText(status), "reason": err.Error()})
}

func answer(w http.ResponseWriter, content interface{}) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(content)
}

// provider finds the one that is named in the query, or the default one.
func (g *gateway) provider(r *http.Request) (*provider, error) {
	name := r.URL.Query().Get("provider")
	if name == "" {
		name = g.Default
	}
	if p := g.Providers[name]; p != nil {
		return p, nil
	}
	return nil, refuse(400, "unknown provider %q", name)
}

// bearer takes the ID token of an Authorization header to the provider that issued it.
func (g *gateway) bearer(r *http.Request) (*person, error) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		return nil, refuse(401, "login required")
	}
	reason := "no provider"
	for _, p := range g.Providers {
		found, err := p.verify(token)
		if err == nil {
			return found, nil
		}
		reason = err.Error()
	}
	return nil, refuse(401, "%s", reason)
}
