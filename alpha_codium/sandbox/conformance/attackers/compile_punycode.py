# expect: CE or TLE, RE, finishes; an encoding that takes quadratic time to read
# made by: "# coding: punycode\nprint('ran')  #-" + "a" * 100_000
