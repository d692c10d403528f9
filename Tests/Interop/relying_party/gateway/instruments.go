package main

import (
	"bytes"
	"io/ioutil"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A clock that a test may put ahead.
type clock struct {
	mutex sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) set(seconds string) error {
	number, err := strconv.Atoi(seconds)
	if err != nil {
		return refuse(400, "%v", err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.ahead = time.Duration(number) * time.Second
	return nil
}

// A visit is a request that the libraries sent to a provider: no values, but what a test may want to know of it.
type visit struct {
	Method string   `json:"method"`
	Path   string   `json:"path"`
	Scheme string   `json:"scheme,omitempty"`
	Names  []string `json:"names,omitempty"`
	Status int      `json:"status"`
}

// A trace is what was asked of the providers since it was last taken.
type trace struct {
	mutex  sync.Mutex
	visits []visit
}

func (t *trace) take() []visit {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	taken := append([]visit{}, t.visits...)
	t.visits = nil
	return taken
}

// A recorder is the transport of every request.
type recorder struct {
	trace      *trace
	spoilBasic bool
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	seen := visit{Method: request.Method, Path: request.URL.Path}
	if request.Body != nil {
		body, err := ioutil.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		request.Body = ioutil.NopCloser(bytes.NewReader(body))
		values, _ := url.ParseQuery(string(body))
		for name := range values {
			seen.Names = append(seen.Names, name)
		}
		sort.Strings(seen.Names)
	}
	seen.Scheme = strings.SplitN(request.Header.Get("Authorization"), " ", 2)[0]
	if name, secret, ok := request.BasicAuth(); ok && r.spoilBasic {
		request = request.Clone(request.Context())
		request.SetBasicAuth(name, secret+"x")
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if response != nil {
		seen.Status = response.StatusCode
	}
	r.trace.mutex.Lock()
	r.trace.visits = append(r.trace.visits, seen)
	r.trace.mutex.Unlock()
	return response, err
}
