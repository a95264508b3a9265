// A test provider on terraform-plugin-framework: protocol 6, or 5 with PROBE_PROTOCOL=5. Its objects
// are files in a folder, so that they outlive the process and tests can look at them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	pschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	protocol := 6
	if text := os.Getenv("PROBE_PROTOCOL"); text != "" {
		protocol, _ = strconv.Atoi(text)
	}
	options := providerserver.ServeOpts{Address: "registry.opentofu.org/kusion/probe", ProtocolVersion: protocol}
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return &probe{} }, options); err != nil {
		log.Fatal(err)
	}
}

// The provider: where its objects are, and what goes wrong on purpose.
type probe struct {
	folder string
	token  string
}

type probeConfig struct {
	Folder types.String `tfsdk:"folder"`
	Token  types.String `tfsdk:"token"`
}

func (p *probe) Metadata(_ context.Context, _ provider.MetadataRequest, r *provider.MetadataResponse) {
	r.TypeName = "probe"
	r.Version = "1.0.0"
}

func (p *probe) Schema(_ context.Context, _ provider.SchemaRequest, r *provider.SchemaResponse) {
	r.Schema = pschema.Schema{
		Description: "Keeps objects as files in a folder.",
		Attributes: map[string]pschema.Attribute{
			"folder": pschema.StringAttribute{Required: true, Description: "The folder of the objects."},
			"token":  pschema.StringAttribute{Optional: true, Sensitive: true},
		},
	}
}

func (p *probe) Configure(ctx context.Context, q provider.ConfigureRequest, r *provider.ConfigureResponse) {
	var config probeConfig
	r.Diagnostics.Append(q.Config.Get(ctx, &config)...)
	if r.Diagnostics.HasError() {
		return
	}
	if config.Token.ValueString() == "refused" {
		r.Diagnostics.AddError("the token is refused", "use another one")
		return
	}
	p.folder, p.token = config.Folder.ValueString(), config.Token.ValueString()
	r.ResourceData, r.DataSourceData = p, p
}

func (p *probe) Resources(context.Context) []func() resource.Resource {
	all := []func() resource.Resource{
		func() resource.Resource { return &object{} },
		func() resource.Resource { return &plain{} },
	}
	if os.Getenv("PROBE_PROTOCOL") != "5" {
		all = append(all, func() resource.Resource { return &nested{} })
	}
	return all
}

func (p *probe) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return &lookup{} }}
}

// What is stored of an object: what tests change behind the provider's back.
type stored struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Mode string `json:"mode"`
	// How often it was written.
	Serial int64 `json:"serial"`
}

func (p *probe) path(id string) string { return filepath.Join(p.folder, id+".json") }

func (p *probe) load(id string) (*stored, error) {
	data, err := os.ReadFile(p.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out stored
	return &out, json.Unmarshal(data, &out)
}

func (p *probe) save(id string, it stored) error {
	data, err := json.Marshal(it)
	if err != nil {
		return err
	}
	return os.WriteFile(p.path(id), data, 0o600)
}

func (p *probe) remove(id string) error {
	err := os.Remove(p.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Does what `fail` asks for at a point: fails, crashes, hangs, or waits.
func misbehave(ctx context.Context, fail types.String, point string) error {
	switch fail.ValueString() {
	case point:
		return fmt.Errorf("%s fails on purpose", point)
	case "crash-" + point:
		os.Exit(3)
	case "hang-" + point:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Hour):
		}
	case "slow-" + point:
		time.Sleep(300 * time.Millisecond)
	}
	return nil
}
