// Package exact reads JSON as Helm does, but for whole numbers of 64 bits: one that a float64 would change is an int64. Every other number is
// a float64, as of encoding/json, so that templates print it as they do in Helm.
package exact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

var errTrailing = errors.New("there is more text after the value")

// Unmarshal reads JSON whose values of any type have numbers as text until Numbers has gone over them.
func Unmarshal(text []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(to); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errTrailing
	}
	return nil
}

// Numbers puts numbers in place of their texts, in the values themselves.
func Numbers(values map[string]any) (err error) {
	for key, value := range values {
		if values[key], err = number(value); err != nil {
			return err
		}
	}
	return nil
}

func number(value any) (_ any, err error) {
	switch value := value.(type) {
	case map[string]any:
		return value, Numbers(value)
	case []any:
		for at, item := range value {
			if value[at], err = number(item); err != nil {
				return nil, err
			}
		}
		return value, nil
	case json.Number:
		return parsed(string(value))
	default:
		return value, nil
	}
}

// The first float64 above the greatest int64. To convert it is undefined.
const beyond = 1 << 63

func parsed(text string) (any, error) {
	float, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %.40s is out of range", text)
	}
	whole, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (float >= beyond || int64(float) != whole) {
		return whole, nil
	}
	return float, nil
}
