// A driver that runs a checker program in C++ on one output of a candidate, or an interactor beside it; what it reads
// and does is described in checking.py.
//
// The linker puts its `__wrap_main` in place of the program's `main` (`--wrap=main`). Everything is prepared before the
// program's own constructors run: they may read stdin, too. Any failure here aborts, since a status could be a verdict.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" int __real_main(int, char **, char **);

namespace {

enum { PROTOCOL, FLAGS, INPUT, ANSWER, OUTPUT, TEXTS };
const char *const names[TEXTS] = {"", "", "input", "answer", "output"};
// The packed texts, each with its size.
const char *text[TEXTS];
size_t size[TEXTS];

void require(bool holds, const char *what)
{
    if (holds) return;
    perror(what);
    abort();
}

void unpack(const char *packed, size_t length)
{
    const char *end = (const char *)memchr(packed, '\n', length), *next = packed;
    require(end, "packed texts");
    const char *rest = end + 1;
    for (int i = 0; i < TEXTS; i++) {
        char *after;
        size[i] = strtoull(next, &after, 10);
        text[i] = rest;
        require(after != next && size[i] <= size_t(packed + length - rest), "packed texts");
        next = after;
        rest += size[i];
    }
    require(next == end && rest == packed + length, "packed texts");
}

void write_file(int i)
{
    int file = open(names[i], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    require(file >= 0, names[i]);
    for (size_t done = 0; done < size[i];) {
        ssize_t written = write(file, text[i] + done, size[i] - done);
        require(written > 0, names[i]);
        done += written;
    }
    close(file);
}

void replace(int stream, int by)
{
    require(by >= 0 && dup2(by, stream) == stream, "streams");
    close(by);
}

bool is_protocol(const char *word)
{
    return memmem(text[PROTOCOL], size[PROTOCOL], word, strlen(word));
}

__attribute__((constructor(101))) void prepare()
{
    struct stat about;
    require(!fstat(0, &about), "stdin");
    const char *packed = (const char *)mmap(nullptr, about.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
    require(packed != MAP_FAILED, "stdin");
    unpack(packed, about.st_size);
    for (int i = INPUT; i < TEXTS; i++) write_file(i);
    require(!mkdir("feedback", 0777), "feedback");
    bool interactive = is_protocol("interactive");
    replace(0, interactive ? 3 : open("output", O_RDONLY));
    replace(1, interactive ? 4 : dup(2));
}

// Return the path of a file in the current folder.
char *path_of(const char *name)
{
    char *here = getcwd(nullptr, 0), *path;
    require(here && asprintf(&path, "%s/%s", here, name) > 0, name);
    return path;
}

} // namespace

extern "C" int __wrap_main(int, char **, char **environment)
{
    char *flags = strndup(text[FLAGS], size[FLAGS]);
    char **arguments = (char **)calloc(size[FLAGS] + 5, sizeof *arguments);
    require(flags && arguments, "arguments");
    bool testlib = is_protocol("testlib");
    int count = 0;
    arguments[count++] = strdup("checker");
    arguments[count++] = path_of("input");
    arguments[count++] = path_of(testlib ? "output" : "answer");
    arguments[count++] = path_of(testlib ? "answer" : "feedback/");
    for (char *flag = strtok(flags, " \t\n\v\f\r"); flag; flag = strtok(nullptr, " \t\n\v\f\r")) arguments[count++] = flag;
    return __real_main(count, arguments, environment);
}
