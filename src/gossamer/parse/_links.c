/* The links of a page, in one pass over its bytes: the compiled twin of the loop in scan.py.
 *
 * It reads what most pages are made of, by the rules of grammar.py: text, tags, comments, raw text, drawings, lists of
 * options. On anything else it gives None, and the twin reads the page from its beginning. So it may understand less than
 * the twin, and never anything differently (tests/contract/test_compiled.py).
 *
 * Nothing is read beyond the end: every step compares with `end`. Every byte is read a bounded number of times.
 */

#include "_tags.h"

/* -- references ------------------------------------------------------------------------------------------------------ */

/* Whether these are segments of plain names with slashes between them, 23 of them before the last slash at most. */
static int is_plain(text at, text end)
{
    for (int slashes = 0; at < end; slashes++) {
        if (!IS(*at, FIRST))
            return 0;
        text start = at++;
        while (at < end && IS(*at, PLAIN))
            at++;
        if (at - start > 63)
            return 0;
        if (at == end)
            return 1;
        if (*at++ != '/' || slashes == 23)
            return 0;
    }
    return 1;
}

typedef struct {
    PyObject *url;              /* of the page, normalised */
    text base;                  /* the same, as bytes; NULL where it is not ASCII */
    Py_ssize_t origin, directory; /* how much of it these are; no directory: it is not plain */
    PyObject *urls;             /* found: a dict, for its order */
    PyObject *known, *remember, *join;
} page;

enum { LONGEST = 2083, LONGEST_VALUE = 16 * 1024 };

static int add(page *here, PyObject *url) /* takes the reference */
{
    if (url == NULL)
        return -1;
    int failed = url == Py_None ? 0 : PyDict_SetItem(here->urls, url, Py_None);
    Py_DECREF(url);
    return failed;
}

static int add_joined(page *here, Py_ssize_t base, text reference, Py_ssize_t length)
{
    if (base + length > LONGEST)
        return 0;
    PyObject *url = PyUnicode_New(base + length, 127);
    if (url == NULL)
        return -1;
    Py_UCS1 *into = PyUnicode_1BYTE_DATA(url);
    memcpy(into, here->base, base);
    memcpy(into + base, reference, length);
    return add(here, url);
}

/* Whether a name in lower case, up to a slash or colon, is plain: its last label is no number, which may be an address, and
 * none is in punycode.
 */
static int is_plain_host(text at, text end)
{
    int labels = 0;
    text label = at;
    for (;; at++) {
        if (at < end && *at != '.') {
            if (!((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9') || *at == '-'))
                return 0;
            continue;
        }
        if (at == label || at - label > 63 || (at - label > 3 && !memcmp(label, "xn--", 4)))
            return 0;
        if (at == end)
            return labels <= 9 && *label >= 'a' && *label <= 'z';
        labels++;
        label = at + 1;
    }
}

/* Whether it is an IPv4 address as it is usually written. */
static int is_plain_address(text at, text end)
{
    for (int part = 0; part < 4; part++) {
        int number = 0;
        text start = at;
        while (at < end && *at >= '0' && *at <= '9' && at - start < 4)
            number = 10 * number + *at++ - '0';
        if (at == start || at - start > 3 || number > 255 || (*start == '0' && at - start > 1))
            return 0;
        if (part < 3 && (at == end || *at++ != '.'))
            return 0;
    }
    return at == end;
}

/* Whether a port, from behind the colon, is written as usual, and no scheme's own. */
static int is_plain_port(text at, text end)
{
    Py_ssize_t digits = end - at;
    if (digits < 1 || digits > 5 || *at == '0' || (digits == 5 && *at > '5'))
        return 0;
    for (text each = at; each < end; each++)
        if (*each < '0' || *each > '9')
            return 0;
    return !(digits == 2 && !memcmp(at, "80", 2)) && !(digits == 3 && !memcmp(at, "443", 3));
}

/* Whether a URL is written as it is normalised: `http://name:8080/plain/path`. */
static int is_normal(text at, text end)
{
    if (end - at > LONGEST || end - at < 9 || memcmp(at, "http", 4))
        return 0;
    at += at[4] == 's' ? 8 : 7;
    text slash = memchr(at, '/', end - at);
    if (slash == NULL || memcmp(at - 3, "://", 3) || !is_plain(slash + 1, end))
        return 0;
    text colon = memchr(at, ':', slash - at), host_end = colon == NULL ? slash : colon;
    if (colon != NULL && !is_plain_port(colon + 1, slash))
        return 0;
    return is_plain_host(at, host_end) || is_plain_address(at, host_end);
}

static int add_absolute(page *here, text reference, Py_ssize_t length)
{
    if (is_normal(reference, reference + length))
        return add(here, PyUnicode_DecodeASCII((const char *)reference, length, NULL));
    PyObject *written = PyBytes_FromStringAndSize((const char *)reference, length);
    if (written == NULL)
        return -1;
    PyObject *url = PyDict_GetItemWithError(here->known, written);
    if (url != NULL)
        Py_INCREF(url);
    else if (!PyErr_Occurred())
        url = PyObject_CallOneArg(here->remember, written);
    Py_DECREF(written);
    return add(here, url);
}

/* By the function of the twin: the reference is text already, or ASCII. */
static int add_other(page *here, PyObject *reference) /* takes the reference */
{
    if (reference == NULL)
        return -1;
    PyObject *url = reference == Py_None ? Py_NewRef(Py_None)
                                         : PyObject_CallFunctionObjArgs(here->join, reference, here->url, NULL);
    Py_DECREF(reference);
    return add(here, url);
}

/* `name`, `dir/name`, `./name`, `../../name`: 1 if it was such a one. */
static int add_relative(page *here, text at, text end)
{
    Py_ssize_t directory = here->directory;
    if (!directory)
        return 0;
    if (end - at > 1 && at[0] == '.' && at[1] == '/')
        at += 2;
    else
        while (end - at > 2 && at[0] == '.' && at[1] == '.' && at[2] == '/') {
            at += 3;
            if (directory > here->origin + 1)
                for (directory--; here->base[directory - 1] != '/'; directory--)
                    ;
        }
    for (text each = at; each < end && *each != '/'; each++)
        if (*each == ':')
            return 0;
    if (!is_plain(at, end))
        return 0;
    return add_joined(here, directory, at, end - at) < 0 ? -1 : 1;
}

/* A reference in ASCII without character references. */
static int add_reference(page *here, text at, text end)
{
    text whole_end = end, fragment = memchr(at, '#', end - at);
    if (fragment != NULL && (fragment == at || fragment[-1] > ' '))
        end = fragment;
    if (end == at)
        return 0; /* the page itself */
    if (end == fragment || fragment == NULL) {
        if (*at == '/') {
            if (here->base != NULL && is_plain(at + 1, end))
                return add_joined(here, here->origin, at, end - at);
        } else if (is_name(at, end, "http", 4)) {
            text colon = at + 4 + (end - at > 4 && lower(at[4]) == 's');
            if (end - colon > 2 && colon[0] == ':' && colon[1] == '/' && colon[2] == '/')
                return add_absolute(here, at, end - at);
        }
        int done = add_relative(here, at, end);
        if (done)
            return done < 0 ? -1 : 0;
    } else
        end = whole_end;
    return add_other(here, PyUnicode_DecodeASCII((const char *)at, end - at, NULL));
}

static int is_ordinary(text at, text end)
{
    if (end - at > LONGEST_VALUE)
        return 0;
    for (; at < end; at++)
        if (*at >= 0x80 || *at == '&')
            return 0;
    return 1;
}

/* Whether one of the words of a `rel` in ASCII is nofollow. Python's split knows some more blanks than HTML. */
static int is_nofollow(text at, text end)
{
    while (at < end) {
        text start = at;
        while (at < end && !(*at == ' ' || (*at >= 0x09 && *at <= 0x0d) || (*at >= 0x1c && *at <= 0x1f)))
            at++;
        if (NAMED(start, at - start, "nofollow"))
            return 1;
        at++;
    }
    return 0;
}

/* -- the page -------------------------------------------------------------------------------------------------------- */

/* Words in a meta element that the twin must look at. */
static int matters(text at, text end)
{
    for (; at < end; at++) {
        switch (*at) {
        case '&':
            return 1;
        case 'r': case 'R':
            if (is_name(at, end, "robots", 6) || is_name(at, end, "refresh", 7) || is_name(at, end, "replacement", 11))
                return 1;
            break;
        case 'g': case 'G':
            if (is_name(at, end, "gossamer", 8))
                return 1;
            break;
        case '2':
            if (is_name(at, end, "2022", 4))
                return 1;
            break;
        case 'h': case 'H':
            if (is_name(at, end, "hz-gb", 5))
                return 1;
            break;
        }
    }
    return 0;
}

enum { OBEY = 1, AREA = 2, UNREAD = 1 };

/* An `a` or `area`, from behind its name: where it ends, in `*after`. 0, -1 for an error, UNREAD for one that the twin
 * must look at.
 */
static int read_anchor(page *here, text at, text end, int obey, Py_ssize_t most, text *after)
{
    text href = NULL, href_end = NULL, rel = NULL, rel_end = NULL;
    attribute found;
    Py_ssize_t count = 0;
    for (;;) {
        at = next_attribute(at, end, &found);
        if (at == NULL || count++ > most)
            return UNREAD;
        if (found.name == NULL)
            break;
        Py_ssize_t length = found.name_end - found.name;
        if (length == 4 && href == NULL && is_name(found.name, end, "href", 4)) {
            href = found.value == NULL ? found.name_end : found.value;
            href_end = found.value == NULL ? found.name_end : found.value_end;
        } else if (length == 3 && rel == NULL && is_name(found.name, end, "rel", 3)) {
            rel = found.value == NULL ? found.name_end : found.value;
            rel_end = found.value == NULL ? found.name_end : found.value_end;
        }
    }
    *after = at + 1;
    if (href == NULL)
        return 0;
    if (!is_ordinary(href, href_end) || (rel != NULL && obey && !is_ordinary(rel, rel_end)))
        return UNREAD;
    if (rel != NULL && obey && is_nofollow(rel, rel_end))
        return 0;
    return add_reference(here, href, href_end);
}

/* By the twin: what it finds in a tag, from its name on, is a reference. */
static int look(page *here, PyObject *looker, PyObject *reading, text at, text end)
{
    PyObject *tag = PyBytes_FromStringAndSize((const char *)at, end - at);
    if (tag == NULL)
        return -1;
    PyObject *reference = PyObject_CallFunctionObjArgs(looker, tag, reading, NULL);
    Py_DECREF(tag);
    return add_other(here, reference);
}

enum { NOTHING, ANCHOR, META, IFRAME, RAW, SELECT, DRAWING, STRANGE };

static int kind_of(text name, Py_ssize_t length, const char **raw)
{
    *raw = NULL;
    switch (lower(*name)) {
    case 'a':
        return length == 1 || NAMED(name, length, "area") ? ANCHOR : NOTHING;
    case 'b':
        return NAMED(name, length, "base") ? STRANGE : NOTHING;
    case 'f':
        return NAMED(name, length, "frameset") ? STRANGE : NOTHING;
    case 'i':
        *raw = "iframe";
        return NAMED(name, length, "iframe") ? IFRAME : NOTHING;
    case 'm':
        return NAMED(name, length, "meta") ? META : NAMED(name, length, "math") ? STRANGE : NOTHING;
    case 'n':
        *raw = length == 7 ? "noembed" : "noframes";
        return NAMED(name, length, "noembed") || NAMED(name, length, "noframes") ? RAW : NOTHING;
    case 'p':
        return NAMED(name, length, "plaintext") ? STRANGE : NOTHING;
    case 's':
        if (NAMED(name, length, "select"))
            return SELECT;
        if (NAMED(name, length, "svg"))
            return DRAWING;
        *raw = length == 6 ? "script" : "style";
        return NAMED(name, length, "script") || NAMED(name, length, "style") ? RAW : NOTHING;
    case 't':
        if (NAMED(name, length, "template"))
            return STRANGE;
        *raw = length == 5 ? "title" : "textarea";
        return NAMED(name, length, "title") || NAMED(name, length, "textarea") ? RAW : NOTHING;
    case 'x':
        *raw = "xmp";
        return NAMED(name, length, "xmp") ? RAW : NOTHING;
    }
    return NOTHING;
}

/* 0, -1 for an error, UNREAD for a page that the twin must read. */
static int read_page(page *here, text at, text end, PyObject *looker, PyObject *reading, int flags, Py_ssize_t attributes,
                     Py_ssize_t links)
{
    while ((at = memchr(at, '<', end - at)) != NULL) {
        if (++at == end)
            return 0;
        unsigned char first = *at;
        if (first == '/') {
            if (++at == end)
                return UNREAD;
            if (IS(*at, LETTER)) {
                if ((at = past_name(at, end)) != NULL)
                    at = past_tag(at, end);
            } else if ((at = memchr(at, '>', end - at)) != NULL)
                at++;
        } else if (first == '!' || first == '?') {
            if (end - at > 2 && first == '!' && at[1] == '-' && at[2] == '-')
                at = past_comment(at + 3, end);
            else if ((at = memchr(at, '>', end - at)) != NULL)
                at++;
        } else if (IS(first, LETTER)) {
            text name = at;
            const char *raw;
            if ((at = past_name(at, end)) == NULL)
                return UNREAD;
            Py_ssize_t length = at - name;
            int kind = kind_of(name, length, &raw), failed = 0;
            if (kind == NOTHING) {
                at = past_tag(at, end);
            } else if (kind == STRANGE) {
                return UNREAD;
            } else if (kind == DRAWING) {
                at = past_drawing(at, end);
            } else if (kind == ANCHOR) {
                if (links-- <= 0)
                    return UNREAD;
                if (length == 4 && !(flags & AREA)) {
                    at = past_tag(at, end);
                } else {
                    text start = at;
                    failed = read_anchor(here, start, end, flags & OBEY, attributes, &at);
                    if (failed == UNREAD && (at = past_tag(start, end)) != NULL)
                        failed = look(here, looker, reading, name, at);
                }
            } else if ((at = past_tag(at, end)) != NULL) {
                if (kind == SELECT)
                    at = select_end(at, end);
                else if (kind != META)
                    at = raw_end(at, end, raw, (Py_ssize_t)strlen(raw));
                if (at != NULL && (kind == IFRAME || kind == META)) {
                    if (links-- <= 0)
                        return UNREAD;
                    if (kind == IFRAME || matters(name, at))
                        failed = look(here, looker, reading, name, at);
                }
            }
            if (failed)
                return failed;
        }
        if (at == NULL)
            return UNREAD;
    }
    return 0;
}

static void measure(page *here)
{
    Py_ssize_t length;
    const char *url = PyUnicode_IS_ASCII(here->url) ? PyUnicode_AsUTF8AndSize(here->url, &length) : NULL;
    here->base = NULL;
    here->origin = here->directory = 0;
    if (url == NULL || length < 9)
        return;
    const char *slash = memchr(url + 8, '/', length - 8);
    if (slash == NULL)
        return;
    here->base = (text)url;
    here->origin = slash - url;
    const char *query = memchr(url, '?', length), *last = query == NULL ? url + length : query;
    while (last[-1] != '/')
        last--;
    if (is_plain((text)slash + 1, (text)last))
        here->directory = last - url;
}

PyDoc_STRVAR(links_doc,
"links(body, url, known, remember, look, join, reading, flags, most_attributes, most_links)\n--\n\n"
"Normalised URLs that a page leads to, each once, without its own; None where the twin must read it.");

static PyObject *links(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 10 || !PyBytes_Check(args[0]) || !PyUnicode_Check(args[1]) || !PyDict_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "links(body: bytes, url: str, known: dict, ...) takes ten arguments");
        return NULL;
    }
    long flags = PyLong_AsLong(args[7]);
    Py_ssize_t attributes = PyLong_AsSsize_t(args[8]), most = PyLong_AsSsize_t(args[9]);
    if (PyErr_Occurred())
        return NULL;
    page here = {.url = args[1], .known = args[2], .remember = args[3], .join = args[5]};
    measure(&here);
    here.urls = PyDict_New();
    if (here.urls == NULL)
        return NULL;
    text body = (text)PyBytes_AS_STRING(args[0]);
    int failed = read_page(&here, body, body + PyBytes_GET_SIZE(args[0]), args[4], args[6], (int)flags, attributes, most);
    PyObject *found = NULL;
    if (failed == UNREAD)
        found = Py_NewRef(Py_None);
    else if (!failed && (!PyDict_Contains(here.urls, here.url) || !PyDict_DelItem(here.urls, here.url)))
        found = PyDict_Keys(here.urls);
    Py_DECREF(here.urls);
    return found;
}

/* -- the encoding ---------------------------------------------------------------------------------------------------- */

/* Whether `charset`, which ends at `at`, is followed by one of the names of encodings that are not like ASCII. */
static int is_replaced(text at, text end)
{
    while (at < end && (IS(*at, BLANK) || *at == '=' || *at == '"' || *at == '\''))
        at++;
    for (int prefix = 0; prefix < 2; prefix++) {
        if (is_name(at, end, "iso2022", 7) || is_name(at, end, "iso-2022", 8) || is_name(at, end, "hz-gb", 5)
            || is_name(at, end, "replacement", 11))
            return 1;
        if (!is_name(at, end, "cs", 2))
            return 0;
        at += 2;
    }
    return 0;
}

#if PY_LITTLE_ENDIAN
#define CHAR 0x72616863u
#else
#define CHAR 0x63686172u
#endif

PyDoc_STRVAR(may_scan_doc,
"may_scan(body, head)\n--\n\n"
"Whether the bytes of a page that look like markup are that: none of them shows another kind of encoding, nor does a\n"
"declaration in the first `head` bytes.");

static PyObject *may_scan(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "may_scan(body: bytes, head: int)");
        return NULL;
    }
    Py_ssize_t size = PyBytes_GET_SIZE(args[0]), head = PyLong_AsSsize_t(args[1]);
    if (head == -1 && PyErr_Occurred())
        return NULL;
    text body = (text)PyBytes_AS_STRING(args[0]), end = body + (head < size ? head : size);
    if (memchr(body, 0, size) != NULL || memchr(body, 0x1b, size) != NULL || (size && body[0] >= 0xfe))
        Py_RETURN_FALSE;
    for (text at = body; end - at >= 7; at++) {
        unsigned int four; /* letters at once: there is hardly ever one of these words */
        memcpy(&four, at, 4);
        if ((four | 0x20202020) == CHAR && is_name(at, end, "charset", 7) && is_replaced(at + 7, end))
            Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

static PyMethodDef methods[] = {
    {"may_scan", (PyCFunction)(void (*)(void))may_scan, METH_FASTCALL, may_scan_doc},
    {"links", (PyCFunction)(void (*)(void))links, METH_FASTCALL, links_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_links", "The links of a page, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__links(void)
{
    make_kinds();
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (PyModule_AddIntConstant(module, "OBEY", OBEY) || PyModule_AddIntConstant(module, "AREA", AREA))) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
