package request

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func request(header string, files ...string) []byte {
	data := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	data = append(data, header...)
	for _, file := range files {
		data = append(data, file...)
	}
	return data
}

func TestARequestIsRead(t *testing.T) {
	binaryFile := "\x00\xff\r\n"
	asked, err := Read(request(`{"folder":"deploy/é","folders":["deploy","deploy/é"],"files":[["a",4],["empty",0],["deploy/é/b",1]],
		"spec":{"targetNamespace":"ns","ignoreMissingComponents":true,"patches":[{"patch":"p","target":{"kind":"K"}}]}}`, binaryFile, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if asked.Folder != "deploy/é" || len(asked.Folders) != 2 || len(asked.Files) != 3 {
		t.Errorf("%+v", asked)
	}
	if string(asked.Files["a"]) != binaryFile || len(asked.Files["empty"]) != 0 || string(asked.Files["deploy/é/b"]) != "b" {
		t.Errorf("%q", asked.Files)
	}
	if spec := asked.Spec; *spec.TargetNamespace != "ns" || spec.NamePrefix != nil || spec.Patches[0].Target.Kind != "K" {
		t.Errorf("%+v", spec)
	}
	if !asked.Spec.IgnoreMissingComponents {
		t.Error("a switch was lost")
	}
}

func TestOneFileCannotGrowIntoTheNext(t *testing.T) {
	asked, err := Read(request(`{"files":[["a",1],["b",1]]}`, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	_ = append(asked.Files["a"], 'x')
	if !bytes.Equal(asked.Files["b"], []byte("b")) {
		t.Error("b was overwritten")
	}
}

func TestARequestThatIsNotWhole(t *testing.T) {
	for _, data := range [][]byte{
		nil, {1}, {0, 0, 0}, {255, 255, 255, 255}, request(`{"files":[["a",2]]}`, "a"), request(`{"files":[["a",-1]]}`, "a"),
		request(`{`), request(`{"files":[["a"`), request(`{"files":[["a",4294967296]]}`), request(``),
	} {
		if _, err := Read(data); err == nil {
			t.Errorf("%q is read", data)
		}
	}
}
