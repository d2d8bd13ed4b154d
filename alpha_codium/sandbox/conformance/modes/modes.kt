import java.io.*
import java.net.*

fun canRead(path: String) = try { FileReader(path).close(); true } catch (e: IOException) { false }
fun canWrite(path: String) = try { FileWriter(path).close(); true } catch (e: IOException) { false }
fun connected() = try { Socket("127.0.0.1", 80).close(); true } catch (e: IOException) { false }
fun deep(n: Int): Int = if (n == 0) 0 else 1 + deep(n - 1)

fun main() {
    val words = System.`in`.bufferedReader().readText().split(' ', '\n').filter { it.isNotEmpty() }
    when (words[0]) {
        "add" -> println(words.drop(1).map { it.toLong() }.sum())
        "exit" -> { println("leaving"); System.exit(3) }
        "fail" -> throw IllegalStateException("failed")
        "loop" -> { var i = 0L; while (true) { i++; if (i == -1L) println(i) } }
        "hoard" -> { val all = mutableListOf<ByteArray>(); while (true) all.add(ByteArray(1 shl 20)) }
        "flood" -> while (true) println("all work and no play makes a program dull")
        "deep" -> println(deep(100000))
        "connect" -> println(if (connected()) "connected" else "refused")
        "read" -> println(if (canRead(words[1])) "read" else "refused")
        "write" -> println(if (canWrite("/program/x") || canWrite("/etc/x")) "written" else "refused")
        "leave" -> println(if (canWrite("left") && canWrite("/tmp/left")) "left" else "refused")
        "look" -> println(if (canRead("left") || canRead("/tmp/left")) "found" else "nothing")
    }
}
