// Package access tests what a device may do, against a throwaway controller.
package access

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// server is what test-server prints.
var server struct {
	URL         string
	CA          string
	Control     string
	Invitations map[string]string
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	command := os.Getenv("PORTCULLIS")
	if command == "" {
		command = "npx portcullis"
	}
	words := append(strings.Fields(command), "test-server", "--model", "../network.yaml")
	process := exec.Command(words[0], words[1:]...)
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe() // It ends when this is closed, or when this process is gone.
	check(err)
	stdout, err := process.StdoutPipe()
	check(err)
	check(process.Start())
	defer process.Wait()
	defer stdin.Close()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	check(err)
	check(json.Unmarshal(line, &server))
	return m.Run()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// client trusts the controller, and shows a certificate where there is one.
func client(certificates ...tls.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(server.CA))
	config := &tls.Config{RootCAs: roots, Certificates: certificates}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
}

// ask answers the status, and the member "data" of the body.
func ask(c *http.Client, method, url, session, mediaType string, body []byte) (int, map[string]any, []any) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	check(err)
	request.Header.Set("content-type", mediaType)
	request.Header.Set("zt-session", session)
	response, err := c.Do(request)
	check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(err)
	var answer struct{ Data any }
	check(json.Unmarshal(text, &answer))
	one, _ := answer.Data.(map[string]any)
	many, _ := answer.Data.([]any)
	return response.StatusCode, one, many
}

// enroll makes a key and has it certified by an invitation.
func enroll(invitation string) tls.Certificate {
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(invitation, ".")[1])
	check(err)
	var token struct{ Jti string }
	check(json.Unmarshal(claims, &token))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	check(err)
	request := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	url := fmt.Sprintf("%s/edge/client/v1/enroll?method=ott&token=%s", server.URL, token.Jti)
	_, data, _ := ask(client(), "POST", url, "", "application/x-pem-file", request)
	keyDer, err := x509.MarshalECPrivateKey(key)
	check(err)
	keyPem := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDer})
	certificate, err := tls.X509KeyPair([]byte(data["cert"].(string)), keyPem)
	check(err)
	return certificate
}

func TestWhatALaptopMayDo(t *testing.T) {
	laptop := client(enroll(server.Invitations["laptop"]))
	api := server.URL + "/edge/client/v1"
	_, login, _ := ask(laptop, "POST", api+"/authenticate?method=cert", "", "application/json", []byte("{}"))
	session := login["token"].(string)

	_, _, services := ask(laptop, "GET", api+"/services", session, "application/json", nil)
	if len(services) != 1 || services[0].(map[string]any)["name"] != "wiki" {
		t.Fatalf("the laptop sees %v", services)
	}

	fault := []byte(`{"status": 503, "route": "GET /services"}`)
	ask(http.DefaultClient, "POST", server.Control+"/faults", "", "application/json", fault)
	if status, _, _ := ask(laptop, "GET", api+"/services", session, "application/json", nil); status != 503 {
		t.Fatalf("the fault is answered %d", status)
	}

	ask(http.DefaultClient, "POST", server.Control+"/clock", "", "application/json", []byte(`{"elapseMs": 1860000}`))
	if status, _, _ := ask(laptop, "GET", api+"/services", session, "application/json", nil); status != 401 {
		t.Fatalf("after 31 minutes the session answers %d", status)
	}
}
