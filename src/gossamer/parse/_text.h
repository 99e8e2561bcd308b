/* Bytes of a page as its compiled readers see them. */

#ifndef GOSSAMER_TEXT_H
#define GOSSAMER_TEXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

typedef const unsigned char *text;

static inline unsigned char lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

/* Whether the bytes from `at` on are this name, in upper or lower case. */
static inline int is_name(text at, text end, const char *name, Py_ssize_t length)
{
    if (end - at < length)
        return 0;
    for (Py_ssize_t i = 0; i < length; i++)
        if (lower(at[i]) != (unsigned char)name[i])
            return 0;
    return 1;
}

#endif
