/* What the fetcher asks of the head of a response, read in one go. */

#ifndef GOSSAMER_HEAD_H
#define GOSSAMER_HEAD_H

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { DIGITS = 18 }; /* as many as surely fit 63 bits */

typedef struct {
    int status; /* 0: of no HTTP/1 */
    int types;  /* how often it says Content-Type */
    const char *type;
    ptrdiff_t type_length;
    long long length; /* the largest that it says; LLONG_MAX: of more digits than are counted here */
    int encoded;      /* it may be: `-encoding` occurs */
    int complete;     /* a blank line ends it */
} Head;

/* Where the text after `name`, given in small letters, begins; NULL where something else stands. */
static const char *after(const char *at, const char *end, const char *name)
{
    for (; *name; at++, name++)
        if (at == end || (*at >= 'A' && *at <= 'Z' ? *at + 32 : *at) != *name)
            return NULL;
    return at;
}

static const char *after_spaces(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static int is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static int status_of(const char *at, ptrdiff_t size)
{
    if (size < 13 || memcmp(at, "HTTP/1.", 7) != 0 || !is_digit(at[7]) || at[8] != ' ')
        return 0;
    if (!is_digit(at[9]) || !is_digit(at[10]) || !is_digit(at[11]) || at[12] == '\0' || !strchr(" \t\r\n", at[12]))
        return 0;
    return (at[9] - '0') * 100 + (at[10] - '0') * 10 + (at[11] - '0');
}

static long long length_at(const char *at, const char *end)
{
    long long length = 0;
    at = after_spaces(at, end);
    for (int digits = 0; at < end && is_digit(*at); at++)
        length = ++digits > DIGITS ? LLONG_MAX : length * 10 + (*at - '0');
    return length;
}

static Head look(const char *at, ptrdiff_t size)
{
    const char *end = at + size, *found;
    Head head = {.status = status_of(at, size)};
    head.complete = size > 2 && end[-1] == '\n' && (end[-2] == '\n' || (end[-2] == '\r' && end[-3] == '\n'));
    for (const char *dash = at; !head.encoded && (dash = memchr(dash, '-', (size_t)(end - dash))) != NULL; dash++)
        head.encoded = after(dash, end, "-encoding") != NULL;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        if ((found = after(at, end, "content-length:")) != NULL) {
            long long length = length_at(found, end);
            head.length = length > head.length ? length : head.length;
        } else if ((found = after(at, end, "content-type")) != NULL) {
            found = after_spaces(found, end);
            if (found == end || *found != ':')
                continue;
            head.types++;
            head.type = at = after_spaces(found + 1, end);
            while (at < end && *at != '\r' && *at != '\n')
                at++;
            head.type_length = at - head.type;
        }
    }
    return head;
}

#endif
