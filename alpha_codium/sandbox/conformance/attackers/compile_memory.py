# expect: CE or MLE, RE, TLE, finishes; a list so long that its tree takes hundreds of megabytes
# made by: "x = [" + "[], " * 200_000 + "]\n"
