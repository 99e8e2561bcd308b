/* What a page's WARC records and its line of CDXJ say, put together in one step: the compiled twin of what warc.py,
 * cdxj.py and surt.py format.
 *
 * Both write the same bytes (tests/contract/test_compiled.py).
 */

#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <string.h>
#include <time.h>

enum { DIGEST = 20, SPELLED = 5 + 32 };

static void spell(const unsigned char *digest, char *into)
{
    static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    memcpy(into, "sha1:", 5);
    into += 5;
    for (int block = 0; block < DIGEST; block += 5, into += 8) {
        unsigned long long bits = 0;
        for (int i = 0; i < 5; i++)
            bits = bits << 8 | digest[block + i];
        for (int i = 0; i < 8; i++)
            into[i] = ALPHABET[bits >> (35 - 5 * i) & 31];
    }
}

PyDoc_STRVAR(spelled_doc, "spelled(digest)\n--\n\n`sha1:` and 20 bytes in base32.");

static PyObject *spelled(PyObject *Py_UNUSED(module), PyObject *digest)
{
    if (!PyBytes_Check(digest) || PyBytes_GET_SIZE(digest) != DIGEST) {
        PyErr_SetString(PyExc_ValueError, "a digest has 20 bytes");
        return NULL;
    }
    PyObject *text = PyUnicode_New(SPELLED, 127);
    if (text != NULL)
        spell((const unsigned char *)PyBytes_AS_STRING(digest), (char *)PyUnicode_1BYTE_DATA(text));
    return text;
}

/* Bytes that grow. */
typedef struct {
    char *at;
    Py_ssize_t length, room;
} text;

static int make_room(text *into, Py_ssize_t more)
{
    if (into->room - into->length >= more)
        return 1;
    Py_ssize_t room = 2 * into->room + more;
    char *at = PyMem_Realloc(into->at, (size_t)room);
    if (at == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    into->at = at;
    into->room = room;
    return 1;
}

static void put(text *into, const char *from, Py_ssize_t length)
{
    memcpy(into->at + into->length, from, (size_t)length);
    into->length += length;
}

#define PUT(into, literal) put((into), (literal), sizeof(literal) - 1)

static void put_number(text *into, long long number)
{
    char digits[24];
    put(into, digits, snprintf(digits, sizeof digits, "%lld", number));
}

/* `2026-01-31T23:59:59` or `20260131235959`; 0 where a moment has no such date. */
static int put_moment(text *into, time_t second, const char *format)
{
    struct tm parts;
    char written[64];
    size_t length = gmtime_r(&second, &parts) == NULL ? 0 : strftime(written, sizeof written, format, &parts);
    if (!length)
        PyErr_SetString(PyExc_OverflowError, "a moment that has no date");
    put(into, written, (Py_ssize_t)length);
    return length > 0;
}

/* -- the records of a page ------------------------------------------------------------------------------------- */

enum { URL, ADDRESS, PROTOCOL, TRUNCATED, HEAD, RAW, REQUEST, PIECES };
static const char *const NAMES[] = {"url", "address", "protocol", "truncated", "head", "raw", "request"};
static PyObject *names[PIECES], *fetched_at;

typedef struct {
    PyObject *held;
    const char *at;
    Py_ssize_t length;
} piece;

/* An attribute of a page that is str or bytes; its bytes stay where they are as long as it is held. */
static int piece_of(PyObject *page, PyObject *name, piece *found)
{
    found->held = PyObject_GetAttr(page, name);
    if (found->held == NULL)
        return 0;
    if (PyBytes_Check(found->held)) {
        found->at = PyBytes_AS_STRING(found->held);
        found->length = PyBytes_GET_SIZE(found->held);
        return 1;
    }
    found->at = PyUnicode_Check(found->held) ? PyUnicode_AsUTF8AndSize(found->held, &found->length) : NULL;
    if (found->at == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a page is made of bytes and str");
    return found->at != NULL;
}

static void put_id(text *into, const char *run, Py_ssize_t length, unsigned long long number)
{
    char digits[32];
    put(into, run, length);
    put(into, digits, snprintf(digits, sizeof digits, "%012llx>", number));
}

static void put_field(text *into, const char *name, const piece *value)
{
    if (!value->length)
        return;
    put(into, name, (Py_ssize_t)strlen(name));
    put(into, value->at, value->length);
    PUT(into, "\r\n");
}

/* The record that has these fields, and this digest of its block. */
static PyObject *record_of(const text *fields, PyObject *digest, const piece *block, const piece *body)
{
    text last = {(char[128]){0}, 0, 128};
    PUT(&last, "WARC-Block-Digest: ");
    spell((const unsigned char *)PyBytes_AS_STRING(digest), last.at + last.length);
    last.length += SPELLED;
    PUT(&last, "\r\nContent-Length: ");
    put_number(&last, block->length + body->length);
    PUT(&last, "\r\n\r\n");
    PyObject *made = PyBytes_FromStringAndSize(NULL, fields->length + last.length + block->length + body->length + 4);
    if (made == NULL)
        return NULL;
    text into = {PyBytes_AS_STRING(made), 0, PyBytes_GET_SIZE(made)};
    put(&into, fields->at, fields->length);
    put(&into, last.at, last.length);
    put(&into, block->at, block->length);
    put(&into, body->at, body->length);
    PUT(&into, "\r\n\r\n");
    return made;
}

PyDoc_STRVAR(records_doc,
"records(page, digest, blocks, run, number)\n--\n\n"
"The response record of a page, and the request record, or nothing. Their ids begin with `run`, and go on with `number`\n"
"and the one after it. `digest` is that of the payload, `blocks` are those of the blocks of both records; without the\n"
"second there is no request record.");

static int is_digest(PyObject *object)
{
    return PyBytes_Check(object) && PyBytes_GET_SIZE(object) == DIGEST;
}

static int are_digests(PyObject *blocks)
{
    if (!PyTuple_Check(blocks) || PyTuple_GET_SIZE(blocks) != 2 || !is_digest(PyTuple_GET_ITEM(blocks, 0)))
        return 0;
    PyObject *request = PyTuple_GET_ITEM(blocks, 1);
    return is_digest(request) || (PyBytes_Check(request) && PyBytes_GET_SIZE(request) == 0);
}

static PyObject *records(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !is_digest(args[1]) || !are_digests(args[2]) || !PyUnicode_Check(args[3]) || !PyLong_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "records(page, digest: 20 bytes, blocks: two digests, run: str, number: int)");
        return NULL;
    }
    piece pieces[PIECES] = {{NULL, NULL, 0}};
    text made = {NULL, 0, 0};
    PyObject *response = NULL, *request = NULL, *both = NULL;
    Py_ssize_t run_length, size = 0;
    const char *run = PyUnicode_AsUTF8AndSize(args[3], &run_length);
    unsigned long long number = PyLong_AsUnsignedLongLong(args[4]);
    if (run == NULL || (number == (unsigned long long)-1 && PyErr_Occurred()))
        return NULL;
    PyObject *moment = PyObject_GetAttr(args[0], fetched_at);
    double seconds = moment == NULL ? -1.0 : PyFloat_AsDouble(moment);
    Py_XDECREF(moment);
    if (seconds == -1.0 && PyErr_Occurred())
        return NULL;
    for (int i = 0; i < PIECES; i++) {
        if (!piece_of(args[0], names[i], &pieces[i]))
            goto done;
        size += i < HEAD ? pieces[i].length : 0;
    }
    if (!make_room(&made, size + 3 * run_length + 1024))
        goto done;
    /* Of a form that was sent: the body behind the URL. */
    piece form = {NULL, memchr(pieces[URL].at, '#', (size_t)pieces[URL].length), 0};
    if (form.at != NULL) {
        form.length = pieces[URL].at + pieces[URL].length - ++form.at;
        pieces[URL].length -= form.length + 1;
    }

    text date = {(char[64]){0}, 0, 64};
    seconds += 1e-6; /* a number read from a date may be a little below it */
    if (!(seconds >= 0 && seconds < 253402300800.0)) {
        PyErr_SetString(PyExc_OverflowError, "a moment that has no date");
        goto done;
    }
    time_t whole = (time_t)seconds;
    if (!put_moment(&date, whole, "%Y-%m-%dT%H:%M:%S"))
        goto done;
    char parts[16];
    put(&date, parts, snprintf(parts, sizeof parts, ".%03dZ", (int)((seconds - (double)whole) * 1000)));
    piece dated = {NULL, date.at, date.length};

    PUT(&made, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: ");
    put_id(&made, run, run_length, number);
    PUT(&made, "\r\n");
    put_field(&made, "WARC-Date: ", &dated);
    put_field(&made, "WARC-Target-URI: ", &pieces[URL]);
    put_field(&made, "Gossamer-Form: ", &form);
    put_field(&made, "WARC-IP-Address: ", &pieces[ADDRESS]);
    put_field(&made, "WARC-Protocol: ", &pieces[PROTOCOL]);
    put_field(&made, "WARC-Truncated: ", &pieces[TRUNCATED]);
    PUT(&made, "WARC-Payload-Digest: ");
    spell((const unsigned char *)PyBytes_AS_STRING(args[1]), made.at + made.length);
    made.length += SPELLED;
    PUT(&made, "\r\nContent-Type: application/http;msgtype=response\r\n");
    response = record_of(&made, PyTuple_GET_ITEM(args[2], 0), &pieces[HEAD], &pieces[RAW]);

    PyObject *asked = PyTuple_GET_ITEM(args[2], 1);
    if (PyBytes_GET_SIZE(asked)) {
        made.length = 0;
        PUT(&made, "WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: ");
        put_id(&made, run, run_length, number + 1);
        PUT(&made, "\r\n");
        put_field(&made, "WARC-Date: ", &dated);
        put_field(&made, "WARC-Target-URI: ", &pieces[URL]);
        PUT(&made, "WARC-Concurrent-To: ");
        put_id(&made, run, run_length, number);
        PUT(&made, "\r\n");
        put_field(&made, "WARC-Protocol: ", &pieces[PROTOCOL]);
        PUT(&made, "Content-Type: application/http;msgtype=request\r\n");
        request = record_of(&made, asked, &pieces[REQUEST], &(piece){NULL, "", 0});
    } else {
        request = PyBytes_FromStringAndSize(NULL, 0);
    }
    if (response != NULL && request != NULL)
        both = PyTuple_Pack(2, response, request);
done:
    Py_XDECREF(response);
    Py_XDECREF(request);
    PyMem_Free(made.at);
    for (int i = 0; i < PIECES; i++)
        Py_XDECREF(pieces[i].held);
    return both;
}

/* -- SURT keys ------------------------------------------------------------------------------------------------- */

/* Which bytes the key of a usual URL may come from. Others are for Python, which knows all the cases. */
enum { HOST = 1, HEX = 2 };
static unsigned char kinds[256];

static void fill_kinds(void)
{
    for (const char *at = "abcdefghijklmnopqrstuvwxyz0123456789-."; *at; at++)
        kinds[(unsigned char)*at] |= HOST;
    for (const char *at = "0123456789abcdefABCDEF"; *at; at++)
        kinds[(unsigned char)*at] |= HEX;
}

static int is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
}

static int hex_value(char digit)
{
    return is_digit(digit) ? digit - '0' : lower(digit) - 'a' + 10;
}

/* Four numbers up to 255, without needless zeros. */
static int is_address(const char *at, const char *end)
{
    for (int parts = 1;; parts++, at++) {
        const char *start = at;
        int number = 0;
        while (at < end && is_digit(*at) && at - start < 3)
            number = 10 * number + *at++ - '0';
        if (at == start || number > 255 || (*start == '0' && at - start > 1))
            return 0;
        if (at == end || *at != '.')
            return parts == 4 && at == end;
    }
}

/* The host reversed and without `www.`, then the port. 0 where it is unusual. */
static int put_host(text *into, const char *host, const char *end, int secure)
{
    const char *last = host;
    int letters = 0;
    for (; last < end && kinds[(unsigned char)*last] & HOST; last++) {
        if (*last == '.' && (last == host || last[-1] == '.'))
            return 0;
        letters |= *last != '.' && !is_digit(*last);
    }
    if (last == host || last[-1] == '.' || (!letters && !is_address(host, last)))
        return 0;
    long port = 0;
    if (last < end) {
        if (*last != ':' || end - last < 2 || end - last > 6 || last[1] == '0')
            return 0;
        for (const char *at = last + 1; at < end; at++) {
            if (!is_digit(*at))
                return 0;
            port = 10 * port + *at - '0';
        }
        if (port > 65535)
            return 0;
    }
    if (last - host > 3 && !memcmp(host, "www", 3)) {
        const char *at = host + 3;
        while (at < last && is_digit(*at))
            at++;
        if (at < last && *at == '.')
            host = at + 1;
    }
    for (const char *stop = last, *at = last; at >= host; at--) {
        if (at > host && at[-1] != '.')
            continue;
        put(into, at, stop - at);
        if (at > host)
            PUT(into, ",");
        stop = at - 1;
    }
    if (port && port != (secure ? 443 : 80))
        put(into, last, end - last);
    PUT(into, ")");
    return 1;
}

/* A path or a query in lower case, with escapes only where they are needed. 0 where it is unusual. */
static int put_unescaped(text *into, const char *at, const char *end)
{
    char *to = into->at + into->length;
    for (; at < end; at++) {
        unsigned char letter = (unsigned char)*at;
        if (letter == '%') {
            if (end - at < 3 || !(kinds[(unsigned char)at[1]] & HEX) || !(kinds[(unsigned char)at[2]] & HEX))
                return 0;
            letter = (unsigned char)(16 * hex_value(at[1]) + hex_value(at[2]));
            if (letter == '%')
                return 0;
            if (letter <= ' ' || letter > '~' || letter == '#') {
                *to++ = '%';
                *to++ = lower(at[1]);
                *to++ = lower(at[2]);
                at += 2;
                continue;
            }
            at += 2;
        } else if (letter <= ' ' || letter > '~' || letter == '#') {
            return 0;
        }
        *to++ = lower((char)letter);
    }
    into->length = to - into->at;
    return 1;
}

enum { PARAMETERS = 64 };

typedef struct {
    const char *at;
    Py_ssize_t length, name; /* of all of it, and of what stands before `=` */
} parameter;

/* By name, then those without a value, then by value. */
static int comes_after(const parameter *one, const parameter *other)
{
    int order = memcmp(one->at, other->at, (size_t)(one->name < other->name ? one->name : other->name));
    if (!order)
        order = (one->name > other->name) - (one->name < other->name);
    if (!order) {
        Py_ssize_t least = one->length < other->length ? one->length : other->length;
        order = memcmp(one->at, other->at, (size_t)least);
        if (!order)
            order = (one->length > other->length) - (one->length < other->length);
    }
    return order > 0;
}

/* The parameters from `start` on in order. 0 where it is unusual: a session id may be in it, or there are too many. */
static int order_query(text *into, Py_ssize_t start)
{
    char *query = into->at + start;
    Py_ssize_t length = into->length - start;
    if (memmem(query, (size_t)length, "sid=", 4) || memmem(query, (size_t)length, "sessionid", 9)
        || memmem(query, (size_t)length, "cftoken=", 8))
        return 0;
    parameter found[PARAMETERS];
    int count = 0, moved = 0;
    for (const char *at = query, *end = query + length; at <= end; count++) {
        const char *stop = memchr(at, '&', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        if (count == PARAMETERS)
            return 0;
        parameter next = {at, stop - at, (equals ? equals : stop) - at};
        int place = count;
        for (; place > 0 && comes_after(&found[place - 1], &next); place--, moved = 1)
            found[place] = found[place - 1];
        found[place] = next;
        at = stop + 1;
    }
    if (!moved)
        return 1;
    char *copy = PyMem_Malloc((size_t)length + 1);
    if (copy == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    char *to = copy;
    for (int i = 0; i < count; i++) {
        if (i)
            *to++ = '&';
        memcpy(to, found[i].at, (size_t)found[i].length);
        to += found[i].length;
    }
    memcpy(query, copy, (size_t)length);
    PyMem_Free(copy);
    return 1;
}

/* The key of a URL, where there is room for as many bytes as the URL has. 0 where surt.py must find it, -1 when there is
 * an error; nothing is added then.
 */
static int put_key(text *into, const char *url, Py_ssize_t length)
{
    Py_ssize_t before = into->length;
    int secure = length > 8 && !memcmp(url, "https://", 8), good = 0;
    if (!secure && (length < 8 || memcmp(url, "http://", 7)))
        return 0;
    const char *host = url + 7 + secure, *end = url + length, *slash = memchr(host, '/', (size_t)(end - host));
    if (slash == NULL)
        return 0;
    const char *mark = memchr(slash, '?', (size_t)(end - slash));
    if (!put_host(into, host, slash, secure))
        goto done;
    Py_ssize_t path = into->length;
    if (!put_unescaped(into, slash, mark ? mark : end))
        goto done;
    Py_ssize_t size = into->length - path;
    for (const char *at = into->at + path, *stop = at + size - 1; at < stop; at++)
        if ((*at == '/' && (at[1] == '/' || at[1] == '.')) || *at == '(')
            goto done; /* segments to take out, or a session id */
    if (size > 1 && into->at[into->length - 1] == '/')
        into->length--;
    if (mark) {
        PUT(into, "?");
        Py_ssize_t start = into->length;
        good = mark + 1 < end && put_unescaped(into, mark + 1, end) ? order_query(into, start) : 0;
    } else {
        good = 1;
    }
done:
    if (good < 1)
        into->length = before;
    return good;
}

PyDoc_STRVAR(surt_doc, "surt(url)\n--\n\nThe SURT key of a URL, or None where it is unusual.");

static PyObject *surt(PyObject *Py_UNUSED(module), PyObject *url)
{
    Py_ssize_t length;
    const char *at = PyUnicode_Check(url) && PyUnicode_IS_ASCII(url) ? PyUnicode_AsUTF8AndSize(url, &length) : NULL;
    if (at == NULL)
        Py_RETURN_NONE;
    text made = {NULL, 0, 0};
    PyObject *key = NULL;
    int good = make_room(&made, length + 8) ? put_key(&made, at, length) : -1;
    if (good == 1)
        key = PyUnicode_FromStringAndSize(made.at, made.length);
    else if (good == 0)
        key = Py_NewRef(Py_None);
    PyMem_Free(made.at);
    return key;
}

/* -- lines of CDXJ --------------------------------------------------------------------------------------------- */

static int is_plain(const char *url, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++)
        if (url[i] < ' ' || url[i] > '~' || url[i] == '"' || url[i] == '\\' || url[i] == '#')
            return 0;
    return 1;
}

PyDoc_STRVAR(lines_doc,
"lines(entries, file, mimes, mime, line)\n--\n\n"
"A line for each entry: URL, moment, content type, status, digest, offset, length, change. `mimes` has types as they are\n"
"written, `mime` is asked for others, and `line` for the lines of unusual URLs.");

enum { ENTRY = 8 };

/* One line; 0 when there is an error. */
static int put_line(text *into, PyObject *entry, PyObject *const *args)
{
    PyObject *url_object = PyTuple_GET_ITEM(entry, 0), *digest = PyTuple_GET_ITEM(entry, 4);
    Py_ssize_t length, file_length, mime_length, change_length;
    const char *url = PyUnicode_AsUTF8AndSize(url_object, &length);
    const char *file = PyUnicode_AsUTF8AndSize(args[1], &file_length);
    const char *change = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(entry, 7), &change_length);
    if (url == NULL || file == NULL || change == NULL)
        return 0;
    double seconds = PyFloat_AsDouble(PyTuple_GET_ITEM(entry, 1));
    long long status = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 3));
    long long offset = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 5));
    long long size = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 6));
    if (PyErr_Occurred())
        return 0;
    if (!make_room(into, 2 * length + 8))
        return 0;
    int good = is_plain(url, length) && is_digest(digest) && seconds >= 0
        && seconds < 253402300800.0 ? put_key(into, url, length) : 0;
    if (good < 0)
        return 0;
    if (!good) {
        PyObject *made = PyObject_CallFunctionObjArgs(args[4], entry, args[1], NULL);
        const char *line = made == NULL ? NULL : PyUnicode_AsUTF8AndSize(made, &length);
        int fits = line != NULL && make_room(into, length);
        if (fits)
            put(into, line, length);
        Py_XDECREF(made);
        return fits;
    }
    PyObject *type = PyTuple_GET_ITEM(entry, 2), *asked = NULL, *mime = PyDict_GetItemWithError(args[2], type);
    if (mime == NULL && !PyErr_Occurred())
        mime = asked = PyObject_CallOneArg(args[3], type);
    const char *written = mime == NULL ? NULL : PyUnicode_AsUTF8AndSize(mime, &mime_length);
    good = written != NULL && make_room(into, length + mime_length + file_length + change_length + 512);
    if (good) {
        PUT(into, " ");
        good = put_moment(into, (time_t)seconds, "%Y%m%d%H%M%S");
        PUT(into, " {\"url\": \"");
        put(into, url, length);
        PUT(into, "\", \"mime\": ");
        put(into, written, mime_length);
        PUT(into, ", \"status\": \"");
        put_number(into, status);
        PUT(into, "\", \"digest\": \"");
        spell((const unsigned char *)PyBytes_AS_STRING(digest), into->at + into->length);
        into->length += SPELLED;
        PUT(into, "\", \"length\": \"");
        put_number(into, size);
        PUT(into, "\", \"offset\": \"");
        put_number(into, offset);
        PUT(into, "\", \"filename\": \"");
        put(into, file, file_length);
        if (change_length) {
            PUT(into, "\", \"change\": \"");
            put(into, change, change_length);
        }
        PUT(into, "\"}\n");
    }
    Py_XDECREF(asked);
    return good;
}

static PyObject *lines(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyList_Check(args[0]) || !PyUnicode_Check(args[1]) || !PyDict_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "lines(entries: list, file: str, mimes: dict, mime, line)");
        return NULL;
    }
    text made = {NULL, 0, 0};
    PyObject *result = NULL;
    int good = make_room(&made, 1);
    for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *entry = Py_NewRef(PyList_GET_ITEM(args[0], i));
        if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != ENTRY) {
            PyErr_SetString(PyExc_TypeError, "an entry is a tuple of eight");
            good = 0;
        } else {
            good = put_line(&made, entry, args);
        }
        Py_DECREF(entry);
    }
    if (good)
        result = PyBytes_FromStringAndSize(made.at, made.length);
    PyMem_Free(made.at);
    return result;
}

static PyMethodDef methods[] = {
    {"spelled", spelled, METH_O, spelled_doc},
    {"records", (PyCFunction)(void (*)(void))records, METH_FASTCALL, records_doc},
    {"surt", surt, METH_O, surt_doc},
    {"lines", (PyCFunction)(void (*)(void))lines, METH_FASTCALL, lines_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_records", "WARC records and lines of CDXJ, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__records(void)
{
    fill_kinds();
    for (int i = 0; i < PIECES; i++)
        if (names[i] == NULL && (names[i] = PyUnicode_InternFromString(NAMES[i])) == NULL)
            return NULL;
    if (fetched_at == NULL && (fetched_at = PyUnicode_InternFromString("fetched_at")) == NULL)
        return NULL;
    return PyModule_Create(&definition);
}
