/* What the form of a path says: the compiled twins of the functions in places.py.
 *
 * Both give the same (tests/contract/test_compiled.py). What is not ASCII is left to the twin.
 */

#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <string.h>

enum { DIRECTORIES = 3, SCHEME = 8 };

static PyObject *twin(const char *name, PyObject *argument)
{
    PyObject *module = PyImport_ImportModule("gossamer.rules.places");
    PyObject *found = module == NULL ? NULL : PyObject_CallMethod(module, name, "O", argument);
    Py_XDECREF(module);
    return found;
}

/* `from` with each number as `#`; gives how long it is then. */
static Py_ssize_t put_without_numbers(char *into, const char *from, Py_ssize_t length)
{
    Py_ssize_t put = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (from[i] < '0' || from[i] > '9')
            into[put++] = from[i];
        else if (i == 0 || from[i - 1] < '0' || from[i - 1] > '9')
            into[put++] = '#';
    }
    return put;
}

PyDoc_STRVAR(place_of_doc,
"place_of(path)\n--\n\n"
"The first two directories, with every number as `#`; and the name of what is called with parameters.");

static PyObject *place_of(PyObject *Py_UNUSED(module), PyObject *path)
{
    if (!PyUnicode_Check(path)) {
        PyErr_SetString(PyExc_TypeError, "place_of(path: str)");
        return NULL;
    }
    if (!PyUnicode_IS_ASCII(path))
        return twin("place_here", path);
    const char *at = (const char *)PyUnicode_1BYTE_DATA(path);
    Py_ssize_t length = PyUnicode_GET_LENGTH(path);
    const char *mark = memchr(at, '?', (size_t)length);
    Py_ssize_t end = mark == NULL ? length : mark - at, slash = end;
    while (slash > 0 && at[slash - 1] != '/')
        slash--;
    Py_ssize_t directory = 0;
    for (int seen = 0; directory < slash && seen < DIRECTORIES; directory++)
        seen += at[directory] == '/';
    char few[256], *into = length + 1 <= (Py_ssize_t)sizeof few ? few : PyMem_Malloc((size_t)length + 1);
    if (into == NULL)
        return PyErr_NoMemory();
    Py_ssize_t put = put_without_numbers(into, at, directory);
    if (mark != NULL) {
        put += put_without_numbers(into + put, at + slash, end - slash);
        into[put++] = '?';
    }
    PyObject *place = PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, into, put);
    if (into != few)
        PyMem_Free(into);
    return place;
}

PyDoc_STRVAR(is_part_doc,
"is_part(url)\n--\n\n"
"Whether a page may be part of something that goes on: called with parameters, a directory, a number or a date.");

static PyObject *is_part(PyObject *Py_UNUSED(module), PyObject *url)
{
    if (!PyUnicode_Check(url)) {
        PyErr_SetString(PyExc_TypeError, "is_part(url: str)");
        return NULL;
    }
    if (!PyUnicode_IS_ASCII(url))
        return twin("is_part_here", url);
    const char *at = (const char *)PyUnicode_1BYTE_DATA(url);
    Py_ssize_t length = PyUnicode_GET_LENGTH(url), start = length < SCHEME ? length : SCHEME;
    Py_ssize_t slash = length, slashes = 0;
    while (slash > 0 && at[slash - 1] != '/')
        slash--;
    int digits = slash < length;
    for (Py_ssize_t i = slash; digits && i < length; i++)
        digits = at[i] >= '0' && at[i] <= '9';
    if (digits || memchr(at, '?', (size_t)length) != NULL)
        Py_RETURN_TRUE;
    if (slash == length) {
        for (Py_ssize_t i = 0; i < length; i++)
            slashes += at[i] == '/';
        if (slashes > DIRECTORIES)
            Py_RETURN_TRUE;
    }
    const char *from = at + start;
    size_t left = (size_t)(length - start);
    if (memchr(from, '=', left) != NULL || memmem(from, left, "19", 2) != NULL || memmem(from, left, "20", 2) != NULL)
        Py_RETURN_TRUE;
    Py_RETURN_FALSE;
}

static PyMethodDef methods[] = {
    {"place_of", place_of, METH_O, place_of_doc},
    {"is_part", is_part, METH_O, is_part_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_places", "What the form of a path says, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__places(void)
{
    return PyModule_Create(&definition);
}
