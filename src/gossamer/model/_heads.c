/* Values of a header in the head of a response: the compiled twin of `values_here` in heads.py.
 *
 * Both give the same (tests/contract/test_compiled.py).
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
}

PyDoc_STRVAR(values_doc,
"values(head, name)\n--\n\n"
"What stands behind each `name:`, given in small letters, at the beginning of a line that is not the first.");

static PyObject *values(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_Check(args[0]) || !PyBytes_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "values(head: bytes, name: bytes)");
        return NULL;
    }
    const char *at = PyBytes_AS_STRING(args[0]), *end = at + PyBytes_GET_SIZE(args[0]);
    const char *name = PyBytes_AS_STRING(args[1]);
    Py_ssize_t length = PyBytes_GET_SIZE(args[1]);
    PyObject *found = PyList_New(0);
    while (found != NULL && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        Py_ssize_t same = 0;
        while (same < length && at + same < end && lower(at[same]) == name[same])
            same++;
        if (same < length)
            continue;
        const char *value = at + length;
        while (value < end && (*value == ' ' || *value == '\t'))
            value++;
        if (value == end || *value != ':')
            continue;
        value++;
        while (value < end && (*value == ' ' || *value == '\t'))
            value++;
        at = value;
        while (at < end && *at != '\r' && *at != '\n')
            at++;
        PyObject *one = PyBytes_FromStringAndSize(value, at - value);
        if (one == NULL || PyList_Append(found, one) < 0)
            Py_CLEAR(found);
        Py_XDECREF(one);
    }
    return found;
}

static PyMethodDef methods[] = {
    {"values", (PyCFunction)(void (*)(void))values, METH_FASTCALL, values_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_heads", "Headers of responses, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__heads(void)
{
    return PyModule_Create(&definition);
}
