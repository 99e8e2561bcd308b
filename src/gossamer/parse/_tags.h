/* HTML's tokenizer, as far as a reader of links needs it: where tags, comments and raw text end (tokens.py has the rules).
 *
 * A step is given where it begins and where the page ends, and gives where it ends; NULL where the page ends before, or
 * where there is more than it knows.
 */

#ifndef GOSSAMER_TAGS_H
#define GOSSAMER_TAGS_H

#include "_text.h"

enum {
    BLANK = 1,        /* between attributes */
    NAME_END = 2,     /* ends the name of a tag: a blank, / or > */
    ATTRIBUTE_END = 4,/* ends the name of an attribute: these, and = */
    LETTER = 8,
    FIRST = 16,       /* may begin a segment of a plain path */
    PLAIN = 32,       /* may be in one */
    SIMPLE_END = 64,  /* ends what SIMPLE reads at once: < > " ' = */
    NAME_BYTE = 128,  /* may stand in front of the = of an attribute that SIMPLE reads */
};

static unsigned char kinds[256];

static void mark(const char *bytes, unsigned char kind)
{
    for (; *bytes; bytes++)
        kinds[(unsigned char)*bytes] |= kind;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static void make_kinds(void)
{
    memset(kinds, 0, sizeof kinds);
    mark(" \t\n\r\f", BLANK | NAME_END | ATTRIBUTE_END);
    mark("/>", NAME_END | ATTRIBUTE_END);
    mark("=", ATTRIBUTE_END);
    mark(LETTERS, LETTER);
    mark(LETTERS DIGITS "_~-", FIRST);
    mark(LETTERS DIGITS "_~.,:+=@!-", PLAIN);
    mark("<>\"'=", SIMPLE_END);
    mark(LETTERS DIGITS "_-", NAME_BYTE);
}

#define IS(byte, kind) (kinds[(byte)] & (kind))

#define NAMED(at, length, name) ((length) == sizeof(name) - 1 && is_name((at), (at) + (length), (name), (length)))

static inline text past_blanks(text at, text end)
{
    while (at < end && IS(*at, BLANK))
        at++;
    return at;
}

typedef struct {
    text name, name_end, value, value_end; /* without value: value is NULL */
} attribute;

/* The next attribute of a tag, from behind its name or the attribute before. Gives where it ends; `found->name` is NULL
 * where the tag ends instead, and then it is where the `>` is. NULL: the page ends within the tag.
 */
static inline text next_attribute(text at, text end, attribute *found)
{
    while (at < end && (IS(*at, BLANK) || *at == '/'))
        at++;
    if (at == end)
        return NULL;
    found->name = found->value = found->value_end = NULL;
    if (*at == '>')
        return at;
    found->name = at++;
    while (at < end && !IS(*at, ATTRIBUTE_END))
        at++;
    found->name_end = at;
    text sign = past_blanks(at, end);
    if (sign == end)
        return NULL;
    if (*sign != '=')
        return at;
    at = past_blanks(sign + 1, end);
    if (at == end)
        return NULL;
    if (*at == '"' || *at == '\'') {
        found->value = at + 1;
        found->value_end = memchr(at + 1, *at, end - at - 1);
        return found->value_end == NULL ? NULL : found->value_end + 1;
    }
    found->value = at;
    while (at < end && !IS(*at, BLANK) && *at != '>')
        at++;
    found->value_end = at;
    return at == end ? NULL : at;
}

/* Where a tag ends, from behind its name: behind the `>`. NULL: it does not. */
static inline text past_tag(text at, text end)
{
    attribute found;
    if (at < end && *at == '>')
        return at + 1;
    do {
        at = next_attribute(at, end, &found);
        if (at == NULL)
            return NULL;
    } while (found.name != NULL);
    return at + 1;
}

/* The same where all values are in double quotes, right behind name and `=`: where the `>` is. NULL: other attributes. */
static text simple_end(text at, text end)
{
    for (;;) {
        while (at < end && !IS(*at, SIMPLE_END))
            at++;
        if (at == end)
            return NULL;
        if (*at == '>')
            return at;
        if (*at != '=' || !IS(at[-1], NAME_BYTE) || end - at < 2 || at[1] != '"')
            return NULL;
        at = memchr(at + 2, '"', end - at - 2);
        if (at == NULL)
            return NULL;
        at++;
    }
}

/* From behind `<!--`, where a comment ends. */
static text past_comment(text at, text end)
{
    if (at < end && *at == '>')
        return at + 1;
    if (end - at > 1 && at[0] == '-' && at[1] == '>')
        return at + 2;
    while ((at = memchr(at, '-', end - at)) != NULL && end - at > 2) {
        if (at[1] == '-') {
            if (at[2] == '>')
                return at + 3;
            if (at[2] == '!' && end - at > 3 && at[3] == '>')
                return at + 4;
        }
        at++;
    }
    return NULL;
}

/* Where the name of a tag ends, from its first letter; NULL: the page ends there. */
static inline text past_name(text at, text end)
{
    while (at < end && !IS(*at, NAME_END))
        at++;
    return at == end ? NULL : at;
}

/* Whether an end tag of this element begins at `at`, where a `<` is. */
static inline int ends(text at, text end, const char *name, Py_ssize_t length)
{
    return end - at > length + 2 && at[1] == '/' && is_name(at + 2, end, name, length) && IS(at[2 + length], NAME_END);
}

/* From within an element whose content is no markup, where its end tag begins; NULL: it does not end, or it is a script
 * that holds another.
 */
static text raw_end(text at, text end, const char *name, Py_ssize_t length)
{
    int script = length == 6 && name[0] == 's' && name[1] == 'c', hidden = 0;
    while ((at = memchr(at, '<', end - at)) != NULL) {
        if (ends(at, end, name, length))
            return at;
        if (script && !hidden && end - at > 3 && at[1] == '!' && at[2] == '-' && at[3] == '-')
            hidden = 1;
        else if (hidden && end - at > 7 && is_name(at + 1, end, "script", 6) && IS(at[7], NAME_END))
            return NULL;
        at++;
    }
    return NULL;
}

/* From behind the start tag of a select, where its end tag begins; NULL: it has more than options in it. */
static text select_end(text at, text end)
{
    while ((at = memchr(at, '<', end - at)) != NULL) {
        if (ends(at, end, "select", 6))
            return at;
        at++;
        if (end - at > 3 && at[0] == '!' && at[1] == '-' && at[2] == '-') {
            if ((at = past_comment(at + 3, end)) == NULL)
                return NULL;
            continue;
        }
        if (at < end && *at == '/')
            at++;
        text name = at;
        if (at == end || (at = past_name(at, end)) == NULL)
            return NULL;
        if (!NAMED(name, at - name, "option") && !NAMED(name, at - name, "optgroup"))
            return NULL;
        if ((at = past_tag(at, end)) == NULL)
            return NULL;
    }
    return NULL;
}

static const char *const SHAPES[] = {
    "path", "g", "circle", "rect", "line", "polygon", "polyline", "ellipse", "defs", "use", "symbol", "stop",
    "lineargradient", "radialgradient", "clippath", "mask", "text", "tspan", "textpath", "image", "marker", "pattern",
    "filter", "animate", "animatetransform", "animatemotion", "set", "switch", "metadata", "feblend", "fecolormatrix",
    "fecomposite", "feflood", "fegaussianblur", "femerge", "femergenode", "feoffset", "femorphology", "fedropshadow",
    NULL,
};

static int is_shape(text name, Py_ssize_t length)
{
    for (const char *const *shape = SHAPES; *shape != NULL; shape++)
        if ((Py_ssize_t)strlen(*shape) == length && is_name(name, name + length, *shape, length))
            return 1;
    return 0;
}

/* From behind the name in the start tag of a drawing, behind its end tag; NULL: it may hold more than shapes. */
static text past_drawing(text at, text end)
{
    at = simple_end(at, end);
    if (at == NULL)
        return NULL;
    if (at[-1] == '/')
        return at + 1;
    while ((at = memchr(at, '<', end - at)) != NULL) {
        if (end - at > 5 && at[1] == '/' && is_name(at + 2, end, "svg", 3) && at[5] == '>')
            return at + 6;
        at++;
        if (end - at > 3 && at[0] == '!' && at[1] == '-' && at[2] == '-') {
            if ((at = past_comment(at + 3, end)) == NULL)
                return NULL;
            continue;
        }
        int closes = at < end && *at == '/';
        text name = at += closes;
        if (at == end || (at = past_name(at, end)) == NULL)
            return NULL;
        Py_ssize_t length = at - name;
        int texts = !closes && (NAMED(name, length, "title") || NAMED(name, length, "desc") || NAMED(name, length, "style"));
        if (!texts && !is_shape(name, length))
            return NULL;
        if ((at = past_tag(at, end)) == NULL)
            return NULL;
        if (texts) {
            at = memchr(at, '<', end - at);
            if (at == NULL || end - at < length + 3 || at[1] != '/' || at[2 + length] != '>')
                return NULL;
            for (Py_ssize_t i = 0; i < length; i++)
                if (lower(at[2 + i]) != lower(name[i]))
                    return NULL;
            at += length + 3;
        }
    }
    return NULL;
}

#endif
