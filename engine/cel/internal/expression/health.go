package expression

// HealthRule is an entry of spec.healthCheckExprs. An empty expression is none.
type HealthRule struct {
	Current    string `json:"current"`
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
}

// Health is a rule that parses.
type Health struct{ inProgress, failed, current *Expression }

// CompileHealth answers the rule, or a Fault with the message of Flux's NewStatusEvaluator.
func CompileHealth(rule HealthRule) (*Health, error) {
	if rule.Current == "" {
		return nil, &Fault{Refused, "expression Current not specified"}
	}
	compiled := &Health{}
	for _, each := range []struct {
		name string
		text string
		into **Expression
	}{
		{"Current", rule.Current, &compiled.current},
		{"Failed", rule.Failed, &compiled.failed},
		{"InProgress", rule.InProgress, &compiled.inProgress},
	} {
		if each.text == "" {
			continue
		}
		parsed, err := Compile(each.text, nil, Parsed)
		if err != nil {
			return nil, prefixed("failed to parse the expression "+each.name+": ", err)
		}
		*each.into = parsed
	}
	return compiled, nil
}

// Status answers what Flux's StatusEvaluator does: InProgress where the controller of the object has not seen its generation,
// then the first expression that is true, else InProgress. Whole numbers of the object have to be int64.
func (h *Health) Status(object map[string]any, budget *Budget) (string, error) {
	observed, isObserved := wholeNumber(object, "status", "observedGeneration")
	generation, isThere := wholeNumber(object, "metadata", "generation")
	if isObserved && isThere && observed != generation {
		return "InProgress", nil
	}
	for _, each := range []struct {
		expression *Expression
		status     string
	}{
		{h.inProgress, "InProgress"},
		{h.failed, "Failed"},
		{h.current, "Current"},
	} {
		if each.expression == nil {
			continue
		}
		holds, err := each.expression.Bool(object, budget)
		if err != nil {
			return "", err
		}
		if holds {
			return each.status, nil
		}
	}
	return "InProgress", nil
}

func wholeNumber(object map[string]any, field, name string) (int64, bool) {
	fields, _ := object[field].(map[string]any)
	number, ok := fields[name].(int64)
	return number, ok
}
