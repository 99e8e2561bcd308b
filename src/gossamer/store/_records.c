/* What a page's WARC records say, put together in one step: the compiled twin of what warc.py formats.
 *
 * Both write the same bytes (tests/contract/test_compiled.py).
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

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

typedef struct {
    const char *at;
    Py_ssize_t length;
} piece;

/* The bytes of a str or bytes, which stay where they are as long as it lives; 0 for anything else. */
static int piece_of(PyObject *object, piece *found)
{
    if (PyBytes_Check(object)) {
        found->at = PyBytes_AS_STRING(object);
        found->length = PyBytes_GET_SIZE(object);
        return 1;
    }
    found->at = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &found->length) : NULL;
    if (found->at == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a record is made of bytes and str");
    return found->at != NULL;
}

PyDoc_STRVAR(record_doc,
"record(fields, block, body)\n--\n\n"
"A record: `WARC/1.1`, one line for each name and value of `fields` that has a value, the length of what follows, an\n"
"empty line, `block` and `body`, two empty lines. `fields` has names and values in turn.");

enum { MOST_FIELDS = 24 };

static PyObject *record(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyTuple_Check(args[0]) || !PyBytes_Check(args[1]) || !PyBytes_Check(args[2])
        || PyTuple_GET_SIZE(args[0]) > MOST_FIELDS || PyTuple_GET_SIZE(args[0]) % 2) {
        PyErr_SetString(PyExc_TypeError, "record(fields: tuple, block: bytes, body: bytes)");
        return NULL;
    }
    static const char FIRST[] = "WARC/1.1\r\n", END[] = "\r\n\r\n";
    piece fields[MOST_FIELDS];
    Py_ssize_t pieces = PyTuple_GET_SIZE(args[0]), size = 0;
    for (Py_ssize_t i = 0; i < pieces; i++) {
        if (!piece_of(PyTuple_GET_ITEM(args[0], i), &fields[i]))
            return NULL;
        if (i % 2 && fields[i].length)
            size += fields[i - 1].length + fields[i].length + 4;
    }
    Py_ssize_t block = PyBytes_GET_SIZE(args[1]), body = PyBytes_GET_SIZE(args[2]);
    char length[64];
    int length_size = snprintf(length, sizeof length, "Content-Length: %zd\r\n\r\n", block + body);
    PyObject *made = PyBytes_FromStringAndSize(NULL, sizeof FIRST - 1 + size + length_size + block + body + 4);
    if (made == NULL)
        return NULL;
    char *into = PyBytes_AS_STRING(made);
#define PUT(from, length) (memcpy(into, (from), (length)), into += (length))
    PUT(FIRST, sizeof FIRST - 1);
    for (Py_ssize_t i = 1; i < pieces; i += 2) {
        if (!fields[i].length)
            continue;
        PUT(fields[i - 1].at, fields[i - 1].length);
        PUT(": ", 2);
        PUT(fields[i].at, fields[i].length);
        PUT("\r\n", 2);
    }
    PUT(length, length_size);
    PUT(PyBytes_AS_STRING(args[1]), block);
    PUT(PyBytes_AS_STRING(args[2]), body);
    PUT(END, 4);
    return made;
}

static PyMethodDef methods[] = {
    {"spelled", spelled, METH_O, spelled_doc},
    {"record", (PyCFunction)(void (*)(void))record, METH_FASTCALL, record_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_records", "WARC records, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__records(void)
{
    return PyModule_Create(&definition);
}
