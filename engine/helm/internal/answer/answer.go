// Package answer takes a request of the host apart and frames the answer: a line of JSON, and the record of a release behind it.
package answer

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	release "helm.sh/helm/v4/pkg/release/v1"

	"sluice/engine/helm/internal/message/source"
	"sluice/engine/helm/internal/record"
	"sluice/engine/helm/internal/render"
	"sluice/engine/helm/internal/values"
)

type asked struct {
	render.Request
	Op        string        `json:"op"`
	OCIDigest string        `json:"ociDigest"`
	Change    record.Change `json:"change"`
	// Of the record of the former release, which stands behind the chart.
	FormerBytes uint64 `json:"formerBytes"`
	// Of a commit. Nothing of Helm is in it: only Go's templates are the same.
	Message source.Request `json:"message"`
}

type rendered struct {
	Observed record.Observed `json:"observed"`
	CRDs     []record.Object `json:"crds"`
}

// Refusal says which part of a request cannot be done.
type Refusal struct {
	Part      string `json:"part"`
	Message   string `json:"message"`
	Reference *int   `json:"reference,omitempty"`
}

var errShort = errors.New("the request ends before what its header announces")

// To answers a request, and whether it was done.
func To(data []byte, lookup render.Lookup) (out []byte, isDone bool) {
	out, err := to(data, lookup)
	if err == nil {
		return out, true
	}
	refusal, _ := json.Marshal(refused(err))
	return refusal, false
}

func refused(err error) Refusal {
	answer := Refusal{Part: "render", Message: err.Error()}
	if _, isIt := errors.AsType[recordError](err); isIt {
		answer.Part = "record"
	}
	if _, isIt := errors.AsType[render.ChartError](err); isIt {
		answer.Part = "chart"
	}
	if _, isIt := errors.AsType[render.ValuesError](err); isIt {
		answer.Part = "values"
	}
	if _, isIt := errors.AsType[source.TemplateError](err); isIt {
		answer.Part = "template"
	}
	if _, isIt := errors.AsType[source.RemovedFieldError](err); isIt {
		answer.Part = "removedField"
	}
	if reference, isIt := errors.AsType[*values.ReferenceError](err); isIt {
		answer.Reference = &reference.Reference
	}
	return answer
}

type recordError struct{ error }

func to(data []byte, lookup render.Lookup) ([]byte, error) {
	if len(data) < 4 {
		return nil, errShort
	}
	length, data := uint64(binary.LittleEndian.Uint32(data)), data[4:]
	if length > uint64(len(data)) {
		return nil, errShort
	}
	var ask asked
	if err := json.Unmarshal(data[:length], &ask); err != nil {
		return nil, err
	}
	body := data[length:]
	switch ask.Op {
	case "prepare":
		prepared, err := render.Prepare(ask.Chart, body)
		if err != nil {
			return nil, err
		}
		return json.Marshal(prepared)
	case "definitions":
		archive, former, err := withFormer(body, ask.FormerBytes)
		if err != nil {
			return nil, err
		}
		crds, err := render.Definitions(ask.Chart, archive, former)
		if err != nil {
			return nil, err
		}
		return json.Marshal(crds)
	case "reused":
		former, err := record.Read(body)
		if err != nil {
			return nil, recordError{err}
		}
		digest, err := render.Reused(ask.Chart, former)
		if err != nil {
			return nil, err
		}
		return json.Marshal(digest)
	case "render":
		archive, former, err := withFormer(body, ask.FormerBytes)
		if err != nil {
			return nil, err
		}
		done, err := render.Render(ask.Request, archive, former, lookup)
		if err != nil {
			return nil, err
		}
		return framed(done.Release, done.CRDs, ask.OCIDigest)
	case "observe":
		rel, err := record.Read(body)
		if err != nil {
			return nil, recordError{err}
		}
		observed, err := record.Observe(rel, ask.OCIDigest)
		if err != nil {
			return nil, recordError{err}
		}
		return json.Marshal(observed)
	case "amend":
		rel, err := record.Read(body)
		if err == nil {
			err = record.Amend(rel, ask.Change)
		}
		if err != nil {
			return nil, recordError{err}
		}
		return framed(rel, []record.Object{}, ask.OCIDigest)
	case "message":
		message, err := source.Message(ask.Message)
		if err != nil {
			return nil, err
		}
		return json.Marshal(message)
	default:
		return nil, errors.New("unknown request")
	}
}

// withFormer parts a chart and the record behind it.
func withFormer(body []byte, formerBytes uint64) (archive []byte, former *release.Release, err error) {
	if formerBytes == 0 {
		return body, nil, nil
	}
	if formerBytes > uint64(len(body)) {
		return nil, nil, errShort
	}
	end := uint64(len(body)) - formerBytes
	former, err = record.Read(body[end:])
	if err != nil {
		return nil, nil, recordError{err}
	}
	return body[:end], former, nil
}

func framed(rel *release.Release, crds []record.Object, ociDigest string) ([]byte, error) {
	observed, err := record.Observe(rel, ociDigest)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(rendered{observed, crds})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(rel)
	if err != nil {
		return nil, err
	}
	return append(append(head, '\n'), body...), nil
}
