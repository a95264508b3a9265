package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

var client = &http.Client{Timeout: 10 * time.Second}

func api() string { return os.Getenv("BALANCER_URL") }

func call(method, name string, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	address := api() + "/pools/" + url.PathEscape(name)
	asked, err := http.NewRequest(method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return client.Do(asked)
}

// get returns a pool; nil if it does not exist.
func get(name string) (*Pool, error) {
	reply, err := call("GET", name, nil)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	var pool Pool
	return &pool, json.NewDecoder(reply.Body).Decode(&pool)
}

func put(pool *Pool) error {
	reply, err := call("PUT", pool.Name, pool)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return &refusal{1, "the load balancer answered " + reply.Status}
	}
	return nil
}

func remove(name string) error {
	reply, err := call("DELETE", name, nil)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

// serve is a load balancer that only stores its pools. It prints its address.
func serve(address string) error {
	var lock sync.Mutex
	pools := map[string]Pool{}
	handle := func(reply http.ResponseWriter, asked *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		name := asked.URL.Path[len("/pools/"):]
		switch asked.Method {
		case "GET":
			pool, ok := pools[name]
			if !ok {
				http.NotFound(reply, asked)
				return
			}
			_ = json.NewEncoder(reply).Encode(pool)
		case "PUT":
			var pool Pool
			if err := json.NewDecoder(asked.Body).Decode(&pool); err != nil {
				http.Error(reply, err.Error(), http.StatusBadRequest)
				return
			}
			pools[name] = pool
		case "DELETE":
			delete(pools, name)
		}
	}
	http.HandleFunc("/pools/", handle)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	return http.Serve(listener, nil)
}
