package main

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// An object with an attribute of every kind, and blocks.
type object struct{ probe *probe }

type objectModel struct {
	Id       types.String  `tfsdk:"id"`
	Name     types.String  `tfsdk:"name"`
	Text     types.String  `tfsdk:"text"`
	Count    types.Number  `tfsdk:"amount"`
	Flag     types.Bool    `tfsdk:"flag"`
	Mode     types.String  `tfsdk:"mode"`
	Preset   types.String  `tfsdk:"preset"`
	Secret   types.String  `tfsdk:"secret"`
	WriteKey types.String  `tfsdk:"write_key"`
	Zone     types.String  `tfsdk:"zone"`
	Serial   types.Int64   `tfsdk:"serial"`
	Tags     types.Map     `tfsdk:"tags"`
	Labels   types.Map     `tfsdk:"labels"`
	Items    types.List    `tfsdk:"items"`
	Members  types.Set     `tfsdk:"members"`
	Anything types.Dynamic `tfsdk:"anything"`
	Fail     types.String  `tfsdk:"fail"`
	Disks    types.List    `tfsdk:"disk"`
	Rules    types.Set     `tfsdk:"rule"`
	Limits   types.Object  `tfsdk:"limits"`
}

var diskTypes = map[string]attr.Type{"size": types.Int64Type, "device": types.StringType}
var ruleTypes = map[string]attr.Type{"port": types.Int64Type, "comment": types.StringType, "handle": types.StringType}

func (o *object) Metadata(_ context.Context, _ resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = "probe_object"
}

func (o *object) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	r.Schema = schema.Schema{
		Version: 1,
		Attributes: map[string]schema.Attribute{
			"id":        schema.StringAttribute{Computed: true, PlanModifiers: keep},
			"name":      schema.StringAttribute{Required: true, PlanModifiers: replace},
			"text":      schema.StringAttribute{Optional: true},
			"amount":    schema.NumberAttribute{Optional: true},
			"flag":      schema.BoolAttribute{Optional: true},
			"mode":      schema.StringAttribute{Optional: true, Computed: true},
			"preset":    schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("standard")},
			"secret":    schema.StringAttribute{Optional: true, Sensitive: true},
			"write_key": schema.StringAttribute{Optional: true, WriteOnly: true},
			"zone":      schema.StringAttribute{Optional: true, PlanModifiers: replace},
			"serial":    schema.Int64Attribute{Computed: true},
			"tags":      schema.MapAttribute{Optional: true, ElementType: types.StringType},
			"labels":    schema.MapAttribute{Optional: true, Computed: true, ElementType: types.StringType},
			"items":     schema.ListAttribute{Optional: true, ElementType: types.StringType},
			"members":   schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"anything":  schema.DynamicAttribute{Optional: true},
			"fail":      schema.StringAttribute{Optional: true},
		},
		Blocks: map[string]schema.Block{
			"disk": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"size":   schema.Int64Attribute{Required: true},
				"device": schema.StringAttribute{Optional: true, Computed: true},
			}}},
			"rule": schema.SetNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"port":    schema.Int64Attribute{Required: true},
				"comment": schema.StringAttribute{Optional: true},
				"handle":  schema.StringAttribute{Computed: true},
			}}},
			"limits": schema.SingleNestedBlock{Attributes: map[string]schema.Attribute{
				"soft": schema.Int64Attribute{Optional: true},
				"hard": schema.Int64Attribute{Optional: true},
			}},
		},
	}
}

func (o *object) Configure(_ context.Context, q resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	if q.ProviderData != nil {
		o.probe = q.ProviderData.(*probe)
	}
}

func (o *object) ValidateConfig(ctx context.Context, q resource.ValidateConfigRequest, r *resource.ValidateConfigResponse) {
	var name types.String
	r.Diagnostics.Append(q.Config.GetAttribute(ctx, path.Root("name"), &name)...)
	if name.ValueString() == "invalid" {
		r.Diagnostics.AddAttributeError(path.Root("name"), "invalid name", "`invalid` cannot be a name")
	}
	if name.ValueString() == "odd" {
		r.Diagnostics.AddAttributeWarning(path.Root("name"), "odd name", "choose another one")
	}
}

// Gives everything that the plan left open a value.
func (m *objectModel) complete(serial int64) {
	if m.Id.IsUnknown() || m.Id.IsNull() {
		m.Id = types.StringValue(fmt.Sprintf("%s@%s", m.Name.ValueString(), m.Zone.ValueString()))
	}
	if m.Mode.IsUnknown() {
		m.Mode = types.StringValue("auto")
	}
	if m.Labels.IsUnknown() {
		m.Labels = types.MapValueMust(types.StringType, map[string]attr.Value{"made-by": types.StringValue("probe")})
	}
	m.Serial = types.Int64Value(serial)
	disks := []attr.Value{}
	for i, it := range m.Disks.Elements() {
		fields := it.(types.Object).Attributes()
		if fields["device"].IsUnknown() {
			fields["device"] = types.StringValue(fmt.Sprintf("/dev/disk%d", i))
		}
		disks = append(disks, types.ObjectValueMust(diskTypes, fields))
	}
	m.Disks = types.ListValueMust(types.ObjectType{AttrTypes: diskTypes}, disks)
	rules := []attr.Value{}
	for _, it := range m.Rules.Elements() {
		fields := it.(types.Object).Attributes()
		if fields["handle"].IsUnknown() {
			fields["handle"] = types.StringValue("rule-" + fields["port"].String())
		}
		rules = append(rules, types.ObjectValueMust(ruleTypes, fields))
	}
	m.Rules = types.SetValueMust(types.ObjectType{AttrTypes: ruleTypes}, rules)
	m.WriteKey = types.StringNull()
}

func (o *object) Create(ctx context.Context, q resource.CreateRequest, r *resource.CreateResponse) {
	var plan objectModel
	r.Diagnostics.Append(q.Plan.Get(ctx, &plan)...)
	if r.Diagnostics.HasError() {
		return
	}
	if err := misbehave(ctx, plan.Fail, "create"); err != nil {
		r.Diagnostics.AddError("cannot create the object", err.Error())
		return
	}
	plan.complete(1)
	if err := o.probe.save(plan.Id.ValueString(), stored{"object", plan.Text.ValueString(), plan.Mode.ValueString(), 1}); err != nil {
		r.Diagnostics.AddError("cannot create the object", err.Error())
		return
	}
	if err := misbehave(ctx, plan.Fail, "created"); err != nil {
		r.Diagnostics.AddError("the object is half made", err.Error())
	}
	if plan.Fail.ValueString() == "wrong-result" {
		plan.Text = types.StringValue("not what was planned")
	}
	r.Diagnostics.Append(r.State.Set(ctx, &plan)...)
	r.Diagnostics.Append(r.Private.SetKey(ctx, "made", []byte(`{"by":"create"}`))...)
}

func (o *object) Read(ctx context.Context, q resource.ReadRequest, r *resource.ReadResponse) {
	var state objectModel
	r.Diagnostics.Append(q.State.Get(ctx, &state)...)
	if r.Diagnostics.HasError() {
		return
	}
	if err := misbehave(ctx, state.Fail, "read"); err != nil {
		r.Diagnostics.AddError("cannot read the object", err.Error())
		return
	}
	found, err := o.probe.load(state.Id.ValueString())
	if err != nil {
		r.Diagnostics.AddError("cannot read the object", err.Error())
		return
	}
	if found == nil {
		r.State.RemoveResource(ctx)
		return
	}
	if found.Text != state.Text.ValueString() {
		state.Text = types.StringValue(found.Text)
	}
	state.Mode, state.Serial = types.StringValue(found.Mode), types.Int64Value(found.Serial)
	r.Diagnostics.Append(r.State.Set(ctx, &state)...)
}

func (o *object) Update(ctx context.Context, q resource.UpdateRequest, r *resource.UpdateResponse) {
	var plan, state objectModel
	r.Diagnostics.Append(q.Plan.Get(ctx, &plan)...)
	r.Diagnostics.Append(q.State.Get(ctx, &state)...)
	made, problems := q.Private.GetKey(ctx, "made")
	r.Diagnostics.Append(problems...)
	if r.Diagnostics.HasError() {
		return
	}
	if len(made) == 0 {
		r.Diagnostics.AddError("private data is lost", "the object has none")
		return
	}
	if err := misbehave(ctx, plan.Fail, "update"); err != nil {
		r.Diagnostics.AddError("cannot update the object", err.Error())
		return
	}
	serial := state.Serial.ValueInt64() + 1
	plan.complete(serial)
	if err := o.probe.save(plan.Id.ValueString(), stored{"object", plan.Text.ValueString(), plan.Mode.ValueString(), serial}); err != nil {
		r.Diagnostics.AddError("cannot update the object", err.Error())
		return
	}
	r.Diagnostics.Append(r.State.Set(ctx, &plan)...)
}

func (o *object) Delete(ctx context.Context, q resource.DeleteRequest, r *resource.DeleteResponse) {
	var state objectModel
	r.Diagnostics.Append(q.State.Get(ctx, &state)...)
	if r.Diagnostics.HasError() {
		return
	}
	if err := misbehave(ctx, state.Fail, "delete"); err != nil {
		r.Diagnostics.AddError("cannot delete the object", err.Error())
		return
	}
	if err := o.probe.remove(state.Id.ValueString()); err != nil {
		r.Diagnostics.AddError("cannot delete the object", err.Error())
	}
}

func (o *object) ImportState(ctx context.Context, q resource.ImportStateRequest, r *resource.ImportStateResponse) {
	found, err := o.probe.load(q.ID)
	if err != nil || found == nil {
		r.Diagnostics.AddError("cannot import the object", "no object has the id "+q.ID)
		return
	}
	name, zone := q.ID, types.StringNull()
	for i, c := range q.ID {
		if c == '@' {
			name = q.ID[:i]
			if q.ID[i+1:] != "" {
				zone = types.StringValue(q.ID[i+1:])
			}
		}
	}
	r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root("id"), q.ID)...)
	r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root("name"), name)...)
	r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root("zone"), zone)...)
	r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root("preset"), "standard")...)
	r.Diagnostics.Append(r.Private.SetKey(ctx, "made", []byte(`{"by":"import"}`))...)
}

func (o *object) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	return map[int64]resource.StateUpgrader{0: {StateUpgrader: func(ctx context.Context, q resource.UpgradeStateRequest, r *resource.UpgradeStateResponse) {
		r.Diagnostics.AddError("too old", "objects of version 0 cannot be upgraded")
	}}}
}

// A data source: an object by its id.
type lookup struct{ probe *probe }

type lookupModel struct {
	Id     types.String `tfsdk:"id"`
	Exists types.Bool   `tfsdk:"exists"`
	Text   types.String `tfsdk:"text"`
}

func (l *lookup) Metadata(_ context.Context, _ datasource.MetadataRequest, r *datasource.MetadataResponse) {
	r.TypeName = "probe_lookup"
}

func (l *lookup) Schema(_ context.Context, _ datasource.SchemaRequest, r *datasource.SchemaResponse) {
	r.Schema = dschema.Schema{Attributes: map[string]dschema.Attribute{
		"id":     dschema.StringAttribute{Required: true},
		"exists": dschema.BoolAttribute{Computed: true},
		"text":   dschema.StringAttribute{Computed: true},
	}}
}

func (l *lookup) Configure(_ context.Context, q datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	if q.ProviderData != nil {
		l.probe = q.ProviderData.(*probe)
	}
}

func (l *lookup) Read(ctx context.Context, q datasource.ReadRequest, r *datasource.ReadResponse) {
	var model lookupModel
	r.Diagnostics.Append(q.Config.Get(ctx, &model)...)
	if r.Diagnostics.HasError() {
		return
	}
	found, err := l.probe.load(model.Id.ValueString())
	if err != nil {
		r.Diagnostics.AddError("cannot read the object", err.Error())
		return
	}
	model.Exists, model.Text = types.BoolValue(found != nil), types.StringNull()
	if found != nil {
		model.Text = types.StringValue(found.Text)
	}
	r.Diagnostics.Append(r.State.Set(ctx, &model)...)
}
