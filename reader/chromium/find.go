package chromium

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// names are what a browser that can render is called in PATH.
var names = []string{
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "headless-shell", "chrome-headless-shell",
	"google-chrome-beta", "microsoft-edge-stable", "microsoft-edge", "brave-browser", "msedge",
}

// places are the usual paths of one that is not in PATH.
func places(system string) []string {
	switch system {
	case "darwin":
		var all []string
		for _, app := range []string{"Chromium", "Google Chrome", "Microsoft Edge", "Brave Browser"} {
			inside := filepath.Join(app+".app", "Contents", "MacOS", app)
			all = append(all, filepath.Join("/Applications", inside), filepath.Join(os.Getenv("HOME"), "Applications", inside))
		}
		return all
	case "windows":
		var all []string
		for _, base := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			for _, app := range []string{`Google\Chrome`, "Chromium", `Microsoft\Edge`} {
				exe := "chrome.exe"
				if app == `Microsoft\Edge` {
					exe = "msedge.exe"
				}
				if root := os.Getenv(base); root != "" {
					all = append(all, filepath.Join(root, app, "Application", exe))
				}
			}
		}
		return all
	}
	return []string{"/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/usr/local/bin/chrome", "/snap/bin/chromium"}
}

// Find returns the path of an installed browser, or "".
func Find() string {
	for _, name := range append(names, places(runtime.GOOS)...) {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
