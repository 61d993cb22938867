package mcptool

import "os"

var stopped = os.Kill
