/* Contents that may have been met: the compiled twins of two loops in contents.py, over the same tables.
 *
 * Both give the same and leave the same tables (tests/contract/test_compiled_contents.py).
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define LINE 64 /* bytes */
#define BITS 6  /* of a line, for each key */
#define BYTES_OF_A_KEY 12

static uint64_t number(const unsigned char *bytes, int count)
{
    uint64_t found = 0;
    while (count--)
        found = found << 8 | bytes[count];
    return found;
}

/* The keys as a list or tuple whose members are bytes that are long enough; NULL with an exception if they are not. */
static PyObject *keys_of(PyObject *given)
{
    PyObject *keys = PySequence_Fast(given, "keys are a list or a tuple");
    for (Py_ssize_t i = 0; keys != NULL && i < PySequence_Fast_GET_SIZE(keys); i++) {
        PyObject *key = PySequence_Fast_GET_ITEM(keys, i);
        if (!PyBytes_Check(key))
            PyErr_SetString(PyExc_TypeError, "a key is bytes");
        else if (PyBytes_GET_SIZE(key) < BYTES_OF_A_KEY)
            PyErr_SetString(PyExc_ValueError, "a key has at least twelve bytes");
        else
            continue;
        Py_CLEAR(keys);
    }
    return keys;
}

static size_t lines_of(PyObject *table)
{
    if (PyByteArray_Check(table) && PyByteArray_GET_SIZE(table) >= LINE)
        return PyByteArray_GET_SIZE(table) / LINE;
    PyErr_SetString(PyExc_TypeError, "a table is a bytearray of at least one line");
    return 0;
}

/* Its line begins this far into a table. */
static size_t start_of(const unsigned char *key, size_t lines)
{
    return number(key, 4) % lines * LINE;
}

PyDoc_STRVAR(mark_doc,
"mark(table, keys)\n--\n\n"
"Set the bits of some keys in a bytearray. The first four bytes of a key name a line, those up to the twelfth bits of it.");

static PyObject *mark(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "mark(table: bytearray, keys: Sequence[bytes])");
        return NULL;
    }
    size_t lines = lines_of(args[0]);
    PyObject *keys = lines ? keys_of(args[1]) : NULL;
    if (keys == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(keys); i++) {
        const unsigned char *key = (unsigned char *)PyBytes_AS_STRING(PySequence_Fast_GET_ITEM(keys, i));
        unsigned char *line = (unsigned char *)PyByteArray_AS_STRING(args[0]) + start_of(key, lines);
        uint64_t bits = number(key + 4, 8);
        for (int nth = 0; nth < BITS; nth++, bits >>= 9)
            line[(bits & 511) / 8] |= 1 << bits % 8;
    }
    Py_DECREF(keys);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(marked_doc,
"marked(tables, keys)\n--\n\n"
"Whether one of the keys has all of its bits in one of the tables, a list of bytearrays that are equally large.");

static int is_in(const unsigned char *line, uint64_t bits)
{
    for (int nth = 0; nth < BITS; nth++, bits >>= 9)
        if (!(line[(bits & 511) / 8] >> bits % 8 & 1))
            return 0;
    return 1;
}

static PyObject *marked(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyList_Check(args[0]) || !PyList_GET_SIZE(args[0])) {
        PyErr_SetString(PyExc_TypeError, "marked(tables: list[bytearray], keys: Sequence[bytes])");
        return NULL;
    }
    PyObject *tables = args[0];
    size_t lines = lines_of(PyList_GET_ITEM(tables, 0));
    for (Py_ssize_t at = 1; lines && at < PyList_GET_SIZE(tables); at++) {
        size_t others = lines_of(PyList_GET_ITEM(tables, at));
        if (others && others != lines)
            PyErr_SetString(PyExc_ValueError, "tables are equally large");
        if (others != lines)
            lines = 0;
    }
    PyObject *keys = lines ? keys_of(args[1]) : NULL;
    if (keys == NULL)
        return NULL;
    int found = 0;
    for (Py_ssize_t i = 0; !found && i < PySequence_Fast_GET_SIZE(keys); i++) {
        const unsigned char *key = (unsigned char *)PyBytes_AS_STRING(PySequence_Fast_GET_ITEM(keys, i));
        size_t start = start_of(key, lines);
        uint64_t bits = number(key + 4, 8);
        for (Py_ssize_t at = 0; !found && at < PyList_GET_SIZE(tables); at++)
            found = is_in((unsigned char *)PyByteArray_AS_STRING(PyList_GET_ITEM(tables, at)) + start, bits);
    }
    Py_DECREF(keys);
    return PyBool_FromLong(found);
}

static PyMethodDef methods[] = {
    {"mark", (PyCFunction)(void (*)(void))mark, METH_FASTCALL, mark_doc},
    {"marked", (PyCFunction)(void (*)(void))marked, METH_FASTCALL, marked_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_contents", "Contents that may have been met, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__contents(void)
{
    return PyModule_Create(&definition);
}
