// A runtime of pools of a load balancer, which has a REST API.
//
// `balancer` answers kusion on standard input and output; BALANCER_URL is the API. `balancer serve
// ADDRESS` is a small load balancer service to try it with. The protocol is described in
// docs/runtime-protocol.md.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Pool is what the service stores.
type Pool struct {
	Name     string   `json:"name"`
	Port     int      `json:"port"`
	Backends []string `json:"backends"`
	// The attempt that created it: how it is found after a crash.
	Tag string `json:"tag,omitempty"`
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params params          `json:"params"`
}

type target struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Key  string `json:"key"`
}

type params struct {
	target
	Objects    []target       `json:"objects"`
	Attributes map[string]any `json:"attributes"`
	Attempt    string         `json:"attempt"`
}

type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string { return r.Message }

func main() {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		if err := serve(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		reply := map[string]any{"jsonrpc": "2.0", "id": asked.ID}
		result, err := answer(asked.Method, asked.Params)
		if refused, ok := err.(*refusal); ok {
			reply["error"] = refused
		} else if err != nil {
			// The service did not answer: a retry may succeed.
			reply["error"] = refusal{2, err.Error()}
		} else {
			reply["result"] = result
		}
		text, _ := json.Marshal(reply)
		fmt.Println(string(text))
	}
}

type object map[string]any

func answer(method string, asked params) (any, error) {
	switch method {
	case "initialize":
		return object{"protocol": "kusion-runtime/1"}, nil
	case "schema":
		return object{"types": object{"pool": object{"attributes": object{
			"port":     object{"required": true, "immutable": true},
			"backends": object{"required": true},
			"url":      object{"computed": true},
		}}}}, nil
	case "identify":
		return object{"id": api(), "name": api()}, nil
	case "read":
		found := []any{}
		for _, it := range asked.Objects {
			pool, err := get(it.Name)
			if err != nil {
				return nil, err
			}
			found = append(found, shown(pool))
		}
		return object{"objects": found}, nil
	case "dryRun":
		pool, err := planned(asked)
		if err != nil {
			return nil, err
		}
		return object{"attributes": attributes(pool)}, nil
	case "apply":
		pool, err := planned(asked)
		if err != nil {
			return nil, err
		}
		if err := put(pool); err != nil {
			return nil, err
		}
		return object{"object": shown(pool)}, nil
	case "delete":
		return object{}, remove(asked.Name)
	case "recover":
		pool, err := get(asked.Name)
		return object{"object": shown(pool)}, err
	case "health":
		return health(asked.Objects)
	}
	return nil, &refusal{-32601, "unknown method `" + method + "`"}
}

// planned returns the pool that a change wants.
func planned(asked params) (*Pool, error) {
	if asked.Type != "pool" {
		return nil, &refusal{1, "unknown type `" + asked.Type + "`"}
	}
	text, _ := json.Marshal(asked.Attributes)
	pool := Pool{Name: asked.Name, Tag: asked.Attempt}
	if err := json.Unmarshal(text, &pool); err != nil {
		return nil, &refusal{1, err.Error()}
	}
	if pool.Port < 1 || pool.Port > 65535 {
		return nil, &refusal{1, "`port` must be a number from 1 to 65535"}
	}
	return &pool, nil
}

func attributes(pool *Pool) object {
	return object{
		"port":     pool.Port,
		"backends": pool.Backends,
		"url":      fmt.Sprintf("http://%s:%d", pool.Name, pool.Port),
	}
}

// shown returns a pool as an object; nil if it does not exist.
func shown(pool *Pool) any {
	if pool == nil {
		return nil
	}
	return object{"key": pool.Name, "attributes": attributes(pool)}
}

func health(targets []target) (any, error) {
	healths := []any{}
	for _, it := range targets {
		pool, err := get(it.Name)
		if err != nil {
			return nil, err
		}
		switch {
		case pool == nil:
			healths = append(healths, object{"state": "failed", "message": "the pool does not exist"})
		case len(pool.Backends) == 0:
			healths = append(healths, object{"state": "progressing", "message": "no backends"})
		default:
			healths = append(healths, object{"state": "ready"})
		}
	}
	return object{"objects": healths}, nil
}
