/* Records and entries of visits as they are packed: the compiled twins of the functions in packing.py.
 *
 * Both write the same bytes (tests/contract/test_compiled.py).
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { HISTORY = 29, DIGEST = 8, LONGEST = 200, DEPTH_0 = 32, ELSEWHERE = 0xFFFF, MARKS = 512 };

static char *put(char *into, unsigned long long number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *into++ = (char)(number >> 8 * i);
    return into;
}

static int number_of(PyObject *from, unsigned long long most, unsigned long long *found)
{
    *found = PyLong_AsUnsignedLongLong(from);
    if (*found == (unsigned long long)-1 && PyErr_Occurred())
        return 0;
    if (*found > most) {
        PyErr_SetString(PyExc_OverflowError, "a record has no room for such a number");
        return 0;
    }
    return 1;
}

/* The same, or as much as there is room for. */
static int some_of(PyObject *from, unsigned long long most, unsigned long long *found)
{
    if (!number_of(from, ~0ULL, found))
        return 0;
    *found = *found < most ? *found : most;
    return 1;
}

/* A validator that was cut would fit nothing. */
static Py_ssize_t usable(PyObject *validator)
{
    Py_ssize_t length = PyBytes_GET_SIZE(validator);
    return length > LONGEST || memchr(PyBytes_AS_STRING(validator), 0, (size_t)length) != NULL ? 0 : length;
}

PyDoc_STRVAR(pack_page_doc,
"pack_page(state, depth, status, fetched_at, tries, stored, digest, changes, validators, again)\n--\n\n"
"The record of a visit that brought a page.");

static PyObject *pack_page(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 10 || !PyFloat_Check(args[3]) || !PyBytes_Check(args[6]) || !PyTuple_Check(args[8])
        || PyTuple_GET_SIZE(args[8]) != 2 || !PyBytes_Check(PyTuple_GET_ITEM(args[8], 0))
        || !PyBytes_Check(PyTuple_GET_ITEM(args[8], 1)) || !PyBytes_Check(args[9])
        || !(args[5] == Py_None || (PyTuple_Check(args[5]) && PyTuple_GET_SIZE(args[5]) == 3))) {
        PyErr_SetString(PyExc_TypeError, "pack_page(state, depth, status, fetched_at: float, tries, "
                                         "stored: tuple | None, digest: bytes, changes, validators: tuple, again: bytes)");
        return NULL;
    }
    unsigned long long state, depth, status, tries, changes, file = 0, offset = 0, length = 0;
    Py_ssize_t digest = PyBytes_GET_SIZE(args[6]);
    double moment = PyFloat_AS_DOUBLE(args[3]);
    if (!number_of(args[0], 0xFF, &state) || !some_of(args[1], 0xFF, &depth) || !number_of(args[2], 0xFFFF, &status)
        || !some_of(args[4], 0xFF, &tries) || !some_of(args[7], 0xFFFF, &changes))
        return NULL;
    if (!(moment >= 0 && moment < 4294967296.0)) {
        PyErr_SetString(PyExc_OverflowError, "a record has no room for such a moment");
        return NULL;
    }
    if (args[5] == Py_None) {
        if (digest) {
            file = ELSEWHERE;
            length = 1;
        }
    } else if (!number_of(PyTuple_GET_ITEM(args[5], 0), 0xFFFF, &file)
               || !number_of(PyTuple_GET_ITEM(args[5], 1), 0xFFFFFFFF, &offset)
               || !number_of(PyTuple_GET_ITEM(args[5], 2), 0xFFFFFFFF, &length)) {
        return NULL;
    }
    PyObject *etag = PyTuple_GET_ITEM(args[8], 0), *modified = PyTuple_GET_ITEM(args[8], 1);
    Py_ssize_t again = PyBytes_GET_SIZE(args[9]), etag_length = usable(etag), modified_length = usable(modified);
    int more = again || PyBytes_GET_SIZE(etag) || PyBytes_GET_SIZE(modified);
    Py_ssize_t size = HISTORY + (more ? 2 + etag_length + modified_length : 0) + (again ? 1 + again : 0);
    PyObject *packed = PyBytes_FromStringAndSize(NULL, size);
    if (packed == NULL)
        return NULL;
    char *at = PyBytes_AS_STRING(packed);
    at = put(at, state, 1);
    at = put(at, depth, 1);
    at = put(at, status, 2);
    at = put(at, (unsigned long long)moment, 4);
    at = put(at, tries, 1);
    at = put(at, file, 2);
    at = put(at, offset, 4);
    at = put(at, length, 4);
    memset(at, 0, DIGEST);
    memcpy(at, PyBytes_AS_STRING(args[6]), (size_t)(digest < DIGEST ? digest : DIGEST));
    at = put(at + DIGEST, changes, 2);
    if (more) {
        *at++ = 0;
        memcpy(at, PyBytes_AS_STRING(etag), (size_t)etag_length);
        at += etag_length;
        *at++ = 0;
        memcpy(at, PyBytes_AS_STRING(modified), (size_t)modified_length);
        at += modified_length;
    }
    if (again) {
        *at++ = 0;
        memcpy(at, PyBytes_AS_STRING(args[9]), (size_t)again);
    }
    return packed;
}

PyDoc_STRVAR(pack_entry_doc,
"pack_entry(depth, tries, hops, scheme, path)\n--\n\n"
"An entry of a queue.");

static PyObject *pack_entry(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    unsigned long long depth, tries, hops;
    if (count != 5 || !PyUnicode_Check(args[3]) || !PyUnicode_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "pack_entry(depth: int, tries: int, hops: int, scheme: str, path: str)");
        return NULL;
    }
    if (!some_of(args[0], 0xFF, &depth) || !some_of(args[1], 0xFF, &tries) || !number_of(args[2], MARKS - 1, &hops))
        return NULL;
    Py_UCS4 first[3] = {DEPTH_0 + (Py_UCS4)depth, DEPTH_0 + (Py_UCS4)tries, DEPTH_0 + (Py_UCS4)hops}, widest = 127;
    for (int i = 0; i < 3; i++)
        widest = first[i] > widest ? first[i] : widest;
    for (int i = 3; i < 5; i++) {
        Py_UCS4 most = PyUnicode_MAX_CHAR_VALUE(args[i]);
        widest = most > widest ? most : widest;
    }
    Py_ssize_t scheme = PyUnicode_GET_LENGTH(args[3]), path = PyUnicode_GET_LENGTH(args[4]);
    PyObject *packed = PyUnicode_New(3 + scheme + path, widest);
    if (packed == NULL)
        return NULL;
    for (int i = 0; i < 3; i++)
        PyUnicode_WRITE(PyUnicode_KIND(packed), PyUnicode_DATA(packed), i, first[i]);
    if (PyUnicode_CopyCharacters(packed, 3, args[3], 0, scheme) < 0
        || PyUnicode_CopyCharacters(packed, 3 + scheme, args[4], 0, path) < 0)
        Py_CLEAR(packed);
    return packed;
}

PyDoc_STRVAR(read_entry_doc,
"read_entry(packed)\n--\n\n"
"Depth, tries, hops with their marks, scheme, path.");

static PyObject *read_entry(PyObject *Py_UNUSED(module), PyObject *packed)
{
    if (!PyUnicode_Check(packed) || PyUnicode_GET_LENGTH(packed) < 4) {
        PyErr_SetString(PyExc_ValueError, "an entry has four letters and a path");
        return NULL;
    }
    PyObject *read = PyTuple_New(5);
    for (int i = 0; read != NULL && i < 5; i++) {
        PyObject *part = i < 3    ? PyLong_FromLong((long)PyUnicode_READ_CHAR(packed, i) - DEPTH_0)
                         : i == 3 ? PyUnicode_Substring(packed, 3, 4)
                                  : PyUnicode_Substring(packed, 4, PyUnicode_GET_LENGTH(packed));
        if (part == NULL)
            Py_CLEAR(read);
        else
            PyTuple_SET_ITEM(read, i, part);
    }
    return read;
}

static PyMethodDef methods[] = {
    {"pack_page", (PyCFunction)(void (*)(void))pack_page, METH_FASTCALL, pack_page_doc},
    {"pack_entry", (PyCFunction)(void (*)(void))pack_entry, METH_FASTCALL, pack_entry_doc},
    {"read_entry", read_entry, METH_O, read_entry_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_packing", "Records of visits, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__packing(void)
{
    return PyModule_Create(&definition);
}
