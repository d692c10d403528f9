package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

// A provider is asked for nothing before the first person comes: it may be down when the gateway starts.
type provider struct {
	Issuer        string   `json:"issuer"`
	ClientID      string   `json:"client_id"`
	ValidationKey string   `json:"validation_key"`
	CallbackURL   string   `json:"callback_url"`
	Scope         []string `json:"scope"`
	UserPrefix    string   `json:"user_prefix"`
	UsernameClaim string   `json:"username_claim"`
	RolesClaim    string   `json:"roles_claim"`
	ChannelsClaim string   `json:"channels_claim"`
	IncludeAccess bool     `json:"include_access"`
	NoState       bool     `json:"disable_callback_state"`
	// AuthStyle is how the library proves who the client is: 0 finds out, 1 the body, 2 Basic.
	AuthStyle oauth2.AuthStyle `json:"auth_style"`
	// SpoilBasic has every Basic secret arrive wrong, so that the library falls back to the body.
	SpoilBasic bool `json:"spoil_basic"`

	name     string
	clock    *clock
	trace    *trace
	mutex    sync.Mutex
	oauth    *oauth2.Config
	verifier *oidc.IDTokenVerifier
}

// context carries the HTTP client that keeps the trace.
func (p *provider) context() context.Context {
	client := &http.Client{Transport: &recorder{p.trace, p.SpoilBasic}, Timeout: 20 * time.Second}
	return oidc.ClientContext(context.Background(), client)
}

// discover reads the provider's metadata, once.
func (p *provider) discover() (*oauth2.Config, *oidc.IDTokenVerifier, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.oauth != nil {
		return p.oauth, p.verifier, nil
	}
	found, err := oidc.NewProvider(p.context(), p.Issuer)
	if err != nil {
		return nil, nil, refuse(500, "discovery: %v", err)
	}
	var metadata struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := found.Claims(&metadata); err != nil {
		return nil, nil, err
	}
	scope := p.Scope
	if len(scope) == 0 {
		scope = []string{"openid", "email"}
	}
	endpoint := found.Endpoint()
	endpoint.AuthStyle = p.AuthStyle
	p.oauth = &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ValidationKey, Endpoint: endpoint,
		RedirectURL: p.CallbackURL, Scopes: scope,
	}
	keys := oidc.NewRemoteKeySet(p.context(), metadata.KeysURL)
	// What the library keeps keys by is its own: a test of rotation cannot wait for minutes.
	now := reflect.ValueOf(keys).Elem().FieldByName("now")
	reflect.NewAt(now.Type(), unsafe.Pointer(now.UnsafeAddr())).Elem().Set(reflect.ValueOf(p.clock.now))
	p.verifier = oidc.NewVerifier(p.Issuer, keys, &oidc.Config{ClientID: p.ClientID, Now: p.clock.now})
	return p.oauth, p.verifier, nil
}

// A person is who an ID token speaks of, as Sync Gateway's settings have it.
type person struct {
	Name     string                 `json:"name"`
	Email    string                 `json:"email,omitempty"`
	Roles    []string               `json:"roles"`
	Channels []string               `json:"channels"`
	Claims   map[string]interface{} `json:"claims"`
	expiry   time.Time
}

func (p *provider) verify(raw string) (*person, error) {
	_, verifier, err := p.discover()
	if err != nil {
		return nil, err
	}
	token, err := verifier.Verify(p.context(), raw)
	if err != nil {
		return nil, refuse(401, "%v", err)
	}
	claims := map[string]interface{}{}
	if err := token.Claims(&claims); err != nil {
		return nil, err
	}
	found := &person{Claims: claims, expiry: token.Expiry}
	if found.Name, err = p.username(token.Subject, claims); err != nil {
		return nil, err
	}
	if found.Roles, err = texts(claims, p.RolesClaim); err != nil {
		return nil, err
	}
	if found.Channels, err = texts(claims, p.ChannelsClaim); err != nil {
		return nil, err
	}
	if email, _ := claims["email"].(string); strings.Count(email, "@") == 1 {
		found.Email = email
	}
	return found, nil
}

// username is the claim that is asked for, or the subject behind a prefix that tells issuers apart.
func (p *provider) username(subject string, claims map[string]interface{}) (string, error) {
	prefix, name := p.UserPrefix, subject
	if p.UsernameClaim != "" {
		switch value := claims[p.UsernameClaim].(type) {
		case string:
			name = value
		case float64:
			name = strconv.FormatFloat(value, 'f', -1, 64)
		default:
			return "", refuse(500, "the claim %q is not there, or no name", p.UsernameClaim)
		}
	} else if prefix == "" {
		issuer, err := url.Parse(p.Issuer)
		if err != nil {
			return "", err
		}
		prefix = url.QueryEscape(issuer.Host + issuer.Path)
	}
	if prefix != "" {
		prefix += "_"
	}
	return prefix + url.QueryEscape(name), nil
}

// texts reads a claim of one text or several; one that is not there is none.
func texts(claims map[string]interface{}, name string) ([]string, error) {
	list := []string{}
	value, there := claims[name]
	if name == "" || !there {
		return list, nil
	}
	if one, ok := value.(string); ok {
		return append(list, one), nil
	}
	content, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(content, &list)
	}
	if err != nil {
		return nil, refuse(401, "the claim %q is no list of texts", name)
	}
	return list, nil
}
