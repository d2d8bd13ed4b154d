package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
)

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + deep(n-1)
}

func canRead(path string) bool {
	_, err := os.ReadFile(path)
	return err == nil
}

func canWrite(path string) bool { return os.WriteFile(path, nil, 0o644) == nil }

func say(happened bool, yes, no string) {
	if happened {
		fmt.Println(yes)
	} else {
		fmt.Println(no)
	}
}

func main() {
	in := bufio.NewReader(os.Stdin)
	var mode string
	fmt.Fscan(in, &mode)
	switch mode {
	case "add":
		sum, x := 0, 0
		for {
			if _, err := fmt.Fscan(in, &x); err != nil {
				break
			}
			sum += x
		}
		fmt.Println(sum)
	case "exit":
		fmt.Println("leaving")
		os.Exit(3)
	case "fail":
		panic("failed")
	case "loop":
		for {
		}
	case "hoard":
		for all := [][]byte{}; ; {
			block := make([]byte, 1<<20)
			for i := range block {
				block[i] = 1
			}
			all = append(all, block)
		}
	case "flood":
		for {
			fmt.Println("all work and no play makes a program dull")
		}
	case "deep":
		fmt.Println(deep(100000))
	case "connect":
		_, err := net.Dial("tcp", "127.0.0.1:80")
		say(err == nil, "connected", "refused")
	case "read":
		var path string
		fmt.Fscan(in, &path)
		say(canRead(path), "read", "refused")
	case "write":
		say(canWrite("/program/x") || canWrite("/etc/x"), "written", "refused")
	case "leave":
		say(canWrite("left") && canWrite("/tmp/left"), "left", "refused")
	case "look":
		say(canRead("left") || canRead("/tmp/left"), "found", "nothing")
	}
}
