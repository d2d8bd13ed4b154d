using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Sockets;

static class Modes
{
    static int Deep(int n) { return n == 0 ? 0 : 1 + Deep(n - 1); }
    static bool Can(Action run) { try { run(); return true; } catch (Exception) { return false; } }
    static bool CanRead(string path) { return Can(() => File.ReadAllText(path)); }
    static bool CanWrite(string path) { return Can(() => File.WriteAllText(path, "")); }
    static void Say(bool happened, string yes, string no) { Console.WriteLine(happened ? yes : no); }
    static void Connect() { new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp).Connect("127.0.0.1", 80); }

    static void Main()
    {
        var words = Console.In.ReadToEnd().Split((char[])null, StringSplitOptions.RemoveEmptyEntries);
        switch (words[0])
        {
            case "add": Console.WriteLine(words.Skip(1).Select(long.Parse).Sum()); break;
            case "exit": Console.WriteLine("leaving"); Environment.Exit(3); break;
            case "fail": throw new InvalidOperationException("failed");
            case "loop": for (;;) { }
            case "hoard": for (var all = new List<byte[]>(); ;) all.Add(Enumerable.Repeat((byte)1, 1 << 20).ToArray());
            case "flood": for (;;) Console.WriteLine("all work and no play makes a program dull");
            case "deep": Console.WriteLine(Deep(100000)); break;
            case "connect": Say(Can(Connect), "connected", "refused"); break;
            case "read": Say(CanRead(words[1]), "read", "refused"); break;
            case "write": Say(CanWrite("/program/x") || CanWrite("/etc/x"), "written", "refused"); break;
            case "leave": Say(CanWrite("left") && CanWrite("/tmp/left"), "left", "refused"); break;
            case "look": Say(CanRead("left") || CanRead("/tmp/left"), "found", "nothing"); break;
        }
    }
}
