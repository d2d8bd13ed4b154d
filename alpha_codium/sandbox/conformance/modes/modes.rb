require 'socket'

def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)

def can
  yield
  true
rescue SystemCallError, SocketError
  false
end

def can_read(path) = can { File.read(path) }
def can_write(path) = can { File.write(path, '') }

mode, *words = $stdin.read.split
case mode
when 'add' then puts words.sum(&:to_i)
when 'exit'
  puts 'leaving'
  exit 3
when 'fail' then raise 'failed'
when 'loop' then loop {}
when 'hoard'
  all = []
  loop { all << 'x' * (1 << 20) }
when 'flood' then loop { puts 'all work and no play makes a program dull' }
when 'deep' then puts deep(100000)
when 'connect' then puts can { TCPSocket.new('127.0.0.1', 80) } ? 'connected' : 'refused'
when 'read' then puts can_read(words[0]) ? 'read' : 'refused'
when 'write' then puts can_write('/program/x') || can_write('/etc/x') ? 'written' : 'refused'
when 'leave' then puts can_write('left') && can_write('/tmp/left') ? 'left' : 'refused'
when 'look' then puts can_read('left') || can_read('/tmp/left') ? 'found' : 'nothing'
end
