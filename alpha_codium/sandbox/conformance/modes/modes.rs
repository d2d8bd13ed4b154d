use std::fs;
use std::io::Read;
use std::net::TcpStream;

fn deep(n: i32) -> i32 { if n == 0 { 0 } else { 1 + std::hint::black_box(deep(n - 1)) } }
fn can_read(path: &str) -> bool { fs::read(path).is_ok() }
fn can_write(path: &str) -> bool { fs::write(path, "").is_ok() }
fn say<'a>(happened: bool, yes: &'a str, no: &'a str) { println!("{}", if happened { yes } else { no }); }

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let mut words = text.split_whitespace();
    match words.next().unwrap() {
        "add" => println!("{}", words.map(|word| word.parse::<i64>().unwrap()).sum::<i64>()),
        "exit" => { println!("leaving"); std::process::exit(3) }
        "fail" => panic!("failed"),
        "loop" => loop { std::hint::black_box(0); },
        "hoard" => { let mut all = vec![]; loop { all.push(vec![1u8; 1 << 20]); } }
        "flood" => loop { println!("all work and no play makes a program dull"); },
        "deep" => println!("{}", deep(100000)),
        "connect" => say(TcpStream::connect("127.0.0.1:80").is_ok(), "connected", "refused"),
        "read" => say(can_read(words.next().unwrap()), "read", "refused"),
        "write" => say(can_write("/program/x") || can_write("/etc/x"), "written", "refused"),
        "leave" => say(can_write("left") && can_write("/tmp/left"), "left", "refused"),
        "look" => say(can_read("left") || can_read("/tmp/left"), "found", "nothing"),
        _ => {}
    }
}
