package main

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// An object with nested attributes, which protocol 5 does not have.
type nested struct{ probe *probe }

type nestedModel struct {
	Id       types.String `tfsdk:"id"`
	Name     types.String `tfsdk:"name"`
	Settings types.Object `tfsdk:"settings"`
	Steps    types.List   `tfsdk:"steps"`
	Peers    types.Set    `tfsdk:"peers"`
	Zones    types.Map    `tfsdk:"zones"`
	Extra    types.Object `tfsdk:"extra"`
}

var entryTypes = map[string]attr.Type{"key": types.StringType, "value": types.StringType, "seen": types.StringType}

func (n *nested) Metadata(_ context.Context, _ resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = "probe_nested"
}

func (n *nested) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	entry := map[string]schema.Attribute{
		"key":   schema.StringAttribute{Required: true},
		"value": schema.StringAttribute{Optional: true, Computed: true},
		"seen":  schema.StringAttribute{Computed: true},
	}
	r.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":       schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"name":     schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
		"settings": schema.SingleNestedAttribute{Optional: true, Attributes: entry},
		"steps":    schema.ListNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: entry}},
		"peers":    schema.SetNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: entry}},
		"zones":    schema.MapNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: entry}},
		"extra":    schema.SingleNestedAttribute{Optional: true, Computed: true, Attributes: entry},
	}}
}

func (n *nested) Configure(_ context.Context, q resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	if q.ProviderData != nil {
		n.probe = q.ProviderData.(*probe)
	}
}

func entry(it attr.Value) attr.Value {
	fields := it.(types.Object).Attributes()
	if len(fields) == 0 {
		return it
	}
	if fields["value"].IsUnknown() {
		fields["value"] = types.StringValue("value of " + fields["key"].(types.String).ValueString())
	}
	if fields["seen"].IsUnknown() {
		fields["seen"] = types.StringValue("seen")
	}
	return types.ObjectValueMust(entryTypes, fields)
}

func (m *nestedModel) complete() {
	kind := types.ObjectType{AttrTypes: entryTypes}
	m.Id = types.StringValue(fmt.Sprintf("%s-nested", m.Name.ValueString()))
	if !m.Settings.IsNull() {
		m.Settings = entry(m.Settings).(types.Object)
	}
	if m.Extra.IsUnknown() {
		m.Extra = types.ObjectValueMust(entryTypes, map[string]attr.Value{
			"key": types.StringValue("extra"), "value": types.StringValue("given"), "seen": types.StringValue("seen"),
		})
	} else if !m.Extra.IsNull() {
		m.Extra = entry(m.Extra).(types.Object)
	}
	all := func(values []attr.Value) []attr.Value {
		out := []attr.Value{}
		for _, it := range values {
			out = append(out, entry(it))
		}
		return out
	}
	if !m.Steps.IsNull() {
		m.Steps = types.ListValueMust(kind, all(m.Steps.Elements()))
	}
	if !m.Peers.IsNull() {
		m.Peers = types.SetValueMust(kind, all(m.Peers.Elements()))
	}
	if !m.Zones.IsNull() {
		zones := map[string]attr.Value{}
		for key, it := range m.Zones.Elements() {
			zones[key] = entry(it)
		}
		m.Zones = types.MapValueMust(kind, zones)
	}
}

func (n *nested) Create(ctx context.Context, q resource.CreateRequest, r *resource.CreateResponse) {
	var plan nestedModel
	r.Diagnostics.Append(q.Plan.Get(ctx, &plan)...)
	if r.Diagnostics.HasError() {
		return
	}
	plan.complete()
	if err := n.probe.save(plan.Id.ValueString(), stored{Kind: "nested"}); err != nil {
		r.Diagnostics.AddError("cannot create the object", err.Error())
		return
	}
	r.Diagnostics.Append(r.State.Set(ctx, &plan)...)
}

func (n *nested) Read(ctx context.Context, q resource.ReadRequest, r *resource.ReadResponse) {
	var state nestedModel
	r.Diagnostics.Append(q.State.Get(ctx, &state)...)
	if found, err := n.probe.load(state.Id.ValueString()); err == nil && found == nil {
		r.State.RemoveResource(ctx)
	}
}

func (n *nested) Update(ctx context.Context, q resource.UpdateRequest, r *resource.UpdateResponse) {
	var plan nestedModel
	r.Diagnostics.Append(q.Plan.Get(ctx, &plan)...)
	if r.Diagnostics.HasError() {
		return
	}
	plan.complete()
	r.Diagnostics.Append(r.State.Set(ctx, &plan)...)
}

func (n *nested) Delete(ctx context.Context, q resource.DeleteRequest, r *resource.DeleteResponse) {
	var state nestedModel
	r.Diagnostics.Append(q.State.Get(ctx, &state)...)
	if err := n.probe.remove(state.Id.ValueString()); err != nil {
		r.Diagnostics.AddError("cannot delete the object", err.Error())
	}
}

// The smallest resource, for measurements.
type plain struct{ probe *probe }

type plainModel struct {
	Id   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	Text types.String `tfsdk:"text"`
}

func (n *plain) Metadata(_ context.Context, _ resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = "probe_plain"
}

func (n *plain) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	r.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"name": schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
		"text": schema.StringAttribute{Optional: true},
	}}
}

func (n *plain) Configure(_ context.Context, q resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	if q.ProviderData != nil {
		n.probe = q.ProviderData.(*probe)
	}
}

func (n *plain) Create(ctx context.Context, q resource.CreateRequest, r *resource.CreateResponse) {
	var plan plainModel
	r.Diagnostics.Append(q.Plan.Get(ctx, &plan)...)
	plan.Id = types.StringValue("plain-" + plan.Name.ValueString())
	if err := n.probe.save(plan.Id.ValueString(), stored{Kind: "plain", Text: plan.Text.ValueString()}); err != nil {
		r.Diagnostics.AddError("cannot create the object", err.Error())
		return
	}
	r.Diagnostics.Append(r.State.Set(ctx, &plan)...)
}

func (n *plain) Read(ctx context.Context, q resource.ReadRequest, r *resource.ReadResponse) {
	var state plainModel
	r.Diagnostics.Append(q.State.Get(ctx, &state)...)
	if found, err := n.probe.load(state.Id.ValueString()); err == nil && found == nil {
		r.State.RemoveResource(ctx)
	}
}

func (n *plain) Update(ctx context.Context, q resource.UpdateRequest, r *resource.UpdateResponse) {
	var plan plainModel
	r.Diagnostics.Append(q.Plan.Get(ctx, &plan)...)
	if err := n.probe.save(plan.Id.ValueString(), stored{Kind: "plain", Text: plan.Text.ValueString()}); err != nil {
		r.Diagnostics.AddError("cannot update the object", err.Error())
		return
	}
	r.Diagnostics.Append(r.State.Set(ctx, &plan)...)
}

func (n *plain) Delete(ctx context.Context, q resource.DeleteRequest, r *resource.DeleteResponse) {
	var state plainModel
	r.Diagnostics.Append(q.State.Get(ctx, &state)...)
	if err := n.probe.remove(state.Id.ValueString()); err != nil {
		r.Diagnostics.AddError("cannot delete the object", err.Error())
	}
}
