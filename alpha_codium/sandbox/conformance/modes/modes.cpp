#include <bits/stdc++.h>
#include <arpa/inet.h>
#include <sys/socket.h>
using namespace std;

volatile int depth_reached;
int deep(int n) { depth_reached = depth_reached + 1; return n == 0 ? 0 : 1 + deep(n - 1); }
bool can_read(const char *path) { return ifstream(path).good(); }
bool can_write(const char *path) { return ofstream(path).good(); }
bool connected() {
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(80), address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (sockaddr *)&address, sizeof address) == 0;
}

int main() {
    string mode, path;
    cin >> mode;
    if (mode == "add") { long long sum = 0, x; while (cin >> x) sum += x; cout << sum << endl; }
    if (mode == "exit") { cout << "leaving" << endl; exit(3); }
    if (mode == "fail") throw runtime_error("failed");
    if (mode == "loop") for (volatile int i = 0;; i = i + 1);
    if (mode == "hoard") for (vector<string> all;;) all.emplace_back(1 << 20, 'x');
    if (mode == "flood") for (;;) cout << "all work and no play makes a program dull\n";
    if (mode == "deep") cout << deep(100000) << endl;
    if (mode == "connect") cout << (connected() ? "connected" : "refused") << endl;
    if (mode == "read") cout << (can_read((cin >> path, path.c_str())) ? "read" : "refused") << endl;
    if (mode == "write") cout << (can_write("/program/x") || can_write("/etc/x") ? "written" : "refused") << endl;
    if (mode == "leave") cout << (can_write("left") && can_write("/tmp/left") ? "left" : "refused") << endl;
    if (mode == "look") cout << (can_read("left") || can_read("/tmp/left") ? "found" : "nothing") << endl;
}
