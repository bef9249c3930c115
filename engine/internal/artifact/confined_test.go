package artifact

import (
	"os"
	"strings"
	"testing"
)

func surroundings() (*Confined, *Tree) {
	outer := NewTree("/", []string{"root-2"}, map[string][]byte{
		"root/a.yaml": []byte("inside"), "root/deploy/b.yaml": []byte("inside"),
		"secret": []byte("outside"), "root-2/secret": []byte("outside"), "rootsecret": []byte("outside"),
	})
	return Confine("/root", outer), outer
}

func TestNothingOutsideIsSeen(t *testing.T) {
	confined, outer := surroundings()
	for _, path := range []string{
		"/secret", "/root/../secret", "/root/deploy/../../secret", "/root/../root-2/secret", "/rootsecret", "/root-2/secret",
		"secret", "../secret", "root/a.yaml", "", ".", "//secret", "/./secret", "/root/./../secret", "/root/../root/../secret",
	} {
		if content, err := confined.ReadFile(path); err == nil {
			t.Errorf("%q reads %q", path, content)
		} else if want := "fs-security-constraint read " + path + ": path '" + path + "' is not in or below '/root'"; err.Error() != want {
			t.Errorf("%q: %v", path, err)
		}
		if confined.Exists(path) || confined.IsDir(path) {
			t.Errorf("%q exists", path)
		}
		if folder, file, err := confined.CleanedAbs(path); err == nil {
			t.Errorf("%q is %q %q", path, folder, file)
		}
		if _, err := confined.ReadDir(path); err == nil {
			t.Errorf("%q is listed", path)
		}
		if err := confined.Put(path, []byte("x")); err == nil {
			t.Errorf("%q is written", path)
		}
		if err := confined.Walk(path, func(string, os.FileInfo, error) error { return nil }); err == nil {
			t.Errorf("%q is walked", path)
		}
	}
	if paths, _ := confined.Glob("/*/*"); strings.Join(paths, " ") != "/root/a.yaml /root/deploy" {
		t.Errorf("a pattern shows %q", paths)
	}
	if content, err := outer.ReadFile("/secret"); string(content) != "outside" || err != nil {
		t.Fatal("the test is about nothing")
	}
}

func TestAboveTheArtifactIsRefusedAndBesideItIsNothing(t *testing.T) {
	confined, _ := surroundings()
	for path, want := range map[string]string{
		"/":           "fs-security-constraint abs /: path '/' is not in or below '/root'",
		"/root-2":     "evalsymlink failure on '/root-2' : lstat /root-2: no such file or directory",
		"/secret":     "evalsymlink failure on '/secret' : lstat /secret: no such file or directory",
		"/root/x/../": "",
	} {
		folder, _, err := confined.CleanedAbs(path)
		if want == "" && (err != nil || folder != "/root") {
			t.Errorf("%q: %q %v", path, folder, err)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestOneFileIsPutInPlace(t *testing.T) {
	confined, outer := surroundings()
	for _, path := range []string{"/root/a.yaml", "/root/deploy/new.yaml"} {
		if err := confined.Put(path, []byte("put")); err != nil {
			t.Fatal(err)
		}
		if content, err := confined.ReadFile(path); string(content) != "put" || err != nil || !confined.Exists(path) {
			t.Errorf("%s is %q, %v", path, content, err)
		}
	}
	if content, _ := outer.ReadFile("/root/a.yaml"); string(content) != "inside" {
		t.Error("the artifact was written")
	}
}

func TestPathsAreToldAsInTheArtifact(t *testing.T) {
	if told := Below("/root", "open /root/deploy/a.yaml: not in '/root'"); told != "open deploy/a.yaml: not in '.'" {
		t.Error(told)
	}
}
