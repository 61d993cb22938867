// Command dossier is the whole product: command line, server and worker.
package main

func main() {}
