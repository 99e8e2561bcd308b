/* Values of headers in the head of a response: the compiled twins of `values_here` and `validators_here` in heads.py.
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

/* The first line from `at` on that is the header of this name, and its value; NULL when there is none. Lines begin after
 * a line feed, so the first one is none.
 */
static const char *find(const char *at, const char *end, const char *name, Py_ssize_t length, Py_ssize_t *size)
{
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
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
        for (at = value; at < end && *at != '\r' && *at != '\n';)
            at++;
        *size = at - value;
        return value;
    }
    return NULL;
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
    Py_ssize_t size;
    PyObject *found = PyList_New(0);
    while (found != NULL
           && (at = find(at, end, PyBytes_AS_STRING(args[1]), PyBytes_GET_SIZE(args[1]), &size)) != NULL) {
        PyObject *one = PyBytes_FromStringAndSize(at, size);
        if (one == NULL || PyList_Append(found, one) < 0)
            Py_CLEAR(found);
        Py_XDECREF(one);
        at += size;
    }
    return found;
}

/* As `bytes.strip` has it. */
static int is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

static PyObject *first_value(PyObject *head, const char *name)
{
    const char *at = PyBytes_AS_STRING(head), *end = at + PyBytes_GET_SIZE(head);
    Py_ssize_t size = 0;
    at = find(at, end, name, (Py_ssize_t)strlen(name), &size);
    while (size && is_blank(*at))
        at++, size--;
    while (size && is_blank(at[size - 1]))
        size--;
    return PyBytes_FromStringAndSize(at, size);
}

PyDoc_STRVAR(validators_doc,
"validators(head)\n--\n\n"
"The first ETag and the first Last-Modified, without spaces around them, each empty where there is none.");

static PyObject *validators(PyObject *Py_UNUSED(module), PyObject *head)
{
    if (!PyBytes_Check(head)) {
        PyErr_SetString(PyExc_TypeError, "validators(head: bytes)");
        return NULL;
    }
    PyObject *etag = first_value(head, "etag"), *modified = etag == NULL ? NULL : first_value(head, "last-modified");
    PyObject *both = modified == NULL ? NULL : PyTuple_Pack(2, etag, modified);
    Py_XDECREF(etag);
    Py_XDECREF(modified);
    return both;
}

static PyMethodDef methods[] = {
    {"values", (PyCFunction)(void (*)(void))values, METH_FASTCALL, values_doc},
    {"validators", validators, METH_O, validators_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_heads", "Headers of responses, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__heads(void)
{
    return PyModule_Create(&definition);
}
