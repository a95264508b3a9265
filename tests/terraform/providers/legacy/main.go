// A test provider on terraform-plugin-sdk: protocol 5 with the legacy type system. Its objects are
// files in a folder, so that they outlive the process and tests can look at them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/hashicorp/terraform-plugin-sdk/v2/plugin"
)

func main() {
	plugin.Serve(&plugin.ServeOpts{ProviderFunc: provider})
}

func provider() *schema.Provider {
	return &schema.Provider{
		Schema: map[string]*schema.Schema{
			"folder": {Type: schema.TypeString, Required: true},
			"token":  {Type: schema.TypeString, Optional: true, Sensitive: true},
			"prefix": {Type: schema.TypeString, Optional: true, Default: "legacy"},
		},
		ResourcesMap:   map[string]*schema.Resource{"legacy_object": object(), "legacy_plain": plain()},
		DataSourcesMap: map[string]*schema.Resource{"legacy_lookup": lookup()},
		ConfigureContextFunc: func(_ context.Context, d *schema.ResourceData) (any, diag.Diagnostics) {
			return &store{d.Get("folder").(string), d.Get("prefix").(string)}, nil
		},
	}
}

type store struct{ folder, prefix string }

func (s *store) path(id string) string { return filepath.Join(s.folder, id+".json") }

func (s *store) save(id string, fields map[string]any) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return os.WriteFile(s.path(id), data, 0o600)
}

func (s *store) load(id string) (map[string]any, error) {
	data, err := os.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(data, &out)
}

func object() *schema.Resource {
	return &schema.Resource{
		CreateContext: create, ReadContext: read, UpdateContext: update, DeleteContext: remove,
		Importer: &schema.ResourceImporter{StateContext: schema.ImportStatePassthroughContext},
		Timeouts: &schema.ResourceTimeout{Create: schema.DefaultTimeout(5 * time.Minute), Delete: schema.DefaultTimeout(2 * time.Minute)},
		Schema: map[string]*schema.Schema{
			"name":      {Type: schema.TypeString, Required: true, ForceNew: true},
			"text":      {Type: schema.TypeString, Optional: true},
			"size":      {Type: schema.TypeInt, Optional: true},
			"ratio":     {Type: schema.TypeFloat, Optional: true},
			"flag":      {Type: schema.TypeBool, Optional: true},
			"preset":    {Type: schema.TypeString, Optional: true, Default: "standard"},
			"mode":      {Type: schema.TypeString, Optional: true, Computed: true},
			"serial":    {Type: schema.TypeInt, Computed: true},
			"secret":    {Type: schema.TypeString, Optional: true, Sensitive: true},
			"write_key": {Type: schema.TypeString, Optional: true, WriteOnly: true},
			"zone":      {Type: schema.TypeString, Optional: true, ForceNew: true},
			"tags":      {Type: schema.TypeMap, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"items":     {Type: schema.TypeList, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"members":   {Type: schema.TypeSet, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"fail":      {Type: schema.TypeString, Optional: true},
			"disk": {Type: schema.TypeList, Optional: true, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"size":   {Type: schema.TypeInt, Required: true},
				"device": {Type: schema.TypeString, Optional: true, Computed: true},
			}}},
			"rule": {Type: schema.TypeSet, Optional: true, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"port":    {Type: schema.TypeInt, Required: true},
				"comment": {Type: schema.TypeString, Optional: true},
				"handle":  {Type: schema.TypeString, Computed: true},
			}}},
			"limits": {Type: schema.TypeList, Optional: true, MaxItems: 1, Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"soft": {Type: schema.TypeInt, Optional: true},
				"hard": {Type: schema.TypeInt, Optional: true, Default: 10},
			}}},
		},
		CustomizeDiff: func(_ context.Context, d *schema.ResourceDiff, _ any) error {
			if d.Id() != "" && (d.HasChange("text") || !d.NewValueKnown("text")) {
				return d.SetNewComputed("serial")
			}
			return nil
		},
	}
}

func complete(d *schema.ResourceData, serial int) error {
	if d.Get("mode").(string) == "" {
		if err := d.Set("mode", "auto"); err != nil {
			return err
		}
	}
	disks := d.Get("disk").([]any)
	for i, it := range disks {
		fields := it.(map[string]any)
		if fields["device"].(string) == "" {
			fields["device"] = fmt.Sprintf("/dev/disk%d", i)
		}
	}
	rules := d.Get("rule").(*schema.Set).List()
	for _, it := range rules {
		fields := it.(map[string]any)
		fields["handle"] = fmt.Sprintf("rule-%d", fields["port"])
	}
	return errors.Join(d.Set("disk", disks), d.Set("rule", rules), d.Set("serial", serial))
}

func create(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	s := meta.(*store)
	if err := misbehave(ctx, d, "create"); err != nil {
		return diag.FromErr(err)
	}
	id := fmt.Sprintf("%s-%s@%s", s.prefix, d.Get("name"), d.Get("zone"))
	d.SetId(id)
	if err := complete(d, 1); err != nil {
		return diag.FromErr(err)
	}
	if err := s.save(id, map[string]any{"text": d.Get("text"), "mode": d.Get("mode"), "serial": 1}); err != nil {
		return diag.FromErr(err)
	}
	return diag.FromErr(misbehave(ctx, d, "created"))
}

func read(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := misbehave(ctx, d, "read"); err != nil {
		return diag.FromErr(err)
	}
	found, err := meta.(*store).load(d.Id())
	if err != nil {
		return diag.FromErr(err)
	}
	if found == nil {
		d.SetId("")
		return nil
	}
	return diag.FromErr(errors.Join(d.Set("text", found["text"]), d.Set("mode", found["mode"]), d.Set("serial", found["serial"])))
}

func update(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := misbehave(ctx, d, "update"); err != nil {
		return diag.FromErr(err)
	}
	before, _ := d.GetChange("serial")
	serial := before.(int) + 1
	if err := complete(d, serial); err != nil {
		return diag.FromErr(err)
	}
	return diag.FromErr(meta.(*store).save(d.Id(), map[string]any{"text": d.Get("text"), "mode": d.Get("mode"), "serial": serial}))
}

func remove(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := misbehave(ctx, d, "delete"); err != nil {
		return diag.FromErr(err)
	}
	if err := os.Remove(meta.(*store).path(d.Id())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return diag.FromErr(err)
	}
	return nil
}

// Does what `fail` asks for at a point: fails, crashes, hangs, or waits.
func misbehave(ctx context.Context, d *schema.ResourceData, point string) error {
	switch d.Get("fail").(string) {
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

func plain() *schema.Resource {
	return &schema.Resource{
		Schema: map[string]*schema.Schema{"name": {Type: schema.TypeString, Required: true, ForceNew: true}},
		CreateContext: func(_ context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
			d.SetId("plain-" + d.Get("name").(string))
			return diag.FromErr(meta.(*store).save(d.Id(), map[string]any{}))
		},
		ReadContext: func(_ context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
			if found, err := meta.(*store).load(d.Id()); err == nil && found == nil {
				d.SetId("")
			}
			return nil
		},
		DeleteContext: remove0,
	}
}

func remove0(_ context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	if err := os.Remove(meta.(*store).path(d.Id())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return diag.FromErr(err)
	}
	return nil
}

func lookup() *schema.Resource {
	return &schema.Resource{
		Schema: map[string]*schema.Schema{
			"key":  {Type: schema.TypeString, Required: true, ValidateDiagFunc: check},
			"text": {Type: schema.TypeString, Computed: true},
		},
		ReadContext: func(_ context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
			found, err := meta.(*store).load(d.Get("key").(string))
			if err != nil {
				return diag.FromErr(err)
			}
			d.SetId(d.Get("key").(string))
			return diag.FromErr(d.Set("text", found["text"]))
		},
	}
}

func check(value any, at cty.Path) diag.Diagnostics {
	if value.(string) == "invalid" {
		return diag.Diagnostics{{Severity: diag.Error, Summary: "invalid key", Detail: "`invalid` cannot be a key", AttributePath: at}}
	}
	return nil
}
