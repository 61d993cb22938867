package otlp

import (
	"fmt"
	"strconv"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// NewSampler is the one that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name;
// an empty name is parentbased_always_on.
func NewSampler(name, arg string) (sdk.Sampler, error) {
	share := 1.0
	if arg != "" {
		var err error
		if share, err = strconv.ParseFloat(arg, 64); err != nil || share < 0 || share > 1 {
			return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q, and not a share between 0 and 1", arg)
		}
	}
	switch name {
	case "", "parentbased_always_on":
		return sdk.ParentBased(sdk.AlwaysSample()), nil
	case "always_on":
		return sdk.AlwaysSample(), nil
	case "always_off":
		return sdk.NeverSample(), nil
	case "traceidratio":
		return sdk.TraceIDRatioBased(share), nil
	case "parentbased_always_off":
		return sdk.ParentBased(sdk.NeverSample()), nil
	case "parentbased_traceidratio":
		return sdk.ParentBased(sdk.TraceIDRatioBased(share)), nil
	}
	return nil, fmt.Errorf("OTEL_TRACES_SAMPLER is %q, which is no sampler that there is", name)
}
