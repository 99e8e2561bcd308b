/* Links on their way into the frontier, parted into what is asked for: the compiled twin of `parted_here` in parting.py.
 *
 * Both give the same (tests/contract/test_compiled_packing.py).
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { SCHEME = 8 };
static PyObject *away_name, *prefix_name;

/* Whether a rule could see anything in the form of a URL. */
static int is_plain(PyObject *url, Py_ssize_t longest, Py_ssize_t most_slashes)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(url), slashes = 0;
    if (!PyUnicode_IS_ASCII(url) || length > longest)
        return 0;
    const char *at = (const char *)PyUnicode_1BYTE_DATA(url);
    for (Py_ssize_t i = 0; i < length; i++) {
        slashes += at[i] == '/';
        if (i < SCHEME)
            continue;
        if (at[i] == '?' || at[i] == '=')
            return 0;
        if (at[i] == '/' && i + 1 < length && (at[i + 1] == '1' || at[i + 1] == '2'))
            return 0;
    }
    return slashes <= most_slashes;
}

static PyObject *key_of(PyObject *prefix, PyObject *path)
{
    Py_ssize_t length;
    const char *written = PyUnicode_AsUTF8AndSize(path, &length);
    if (written == NULL || !PyBytes_Check(prefix))
        return NULL;
    PyObject *key = PyBytes_FromStringAndSize(NULL, PyBytes_GET_SIZE(prefix) + length);
    if (key != NULL) {
        memcpy(PyBytes_AS_STRING(key), PyBytes_AS_STRING(prefix), (size_t)PyBytes_GET_SIZE(prefix));
        memcpy(PyBytes_AS_STRING(key) + PyBytes_GET_SIZE(prefix), written, (size_t)length);
    }
    return key;
}

/* One URL of a group; 0 when there is an error. */
static int part(PyObject *url, PyObject *group, PyObject *const *args, Py_ssize_t longest, Py_ssize_t most_slashes,
                PyObject *wanted, PyObject *keys, PyObject *away)
{
    Py_ssize_t cut = PyUnicode_Check(url) ? PyUnicode_FindChar(url, '/', SCHEME, PyUnicode_GET_LENGTH(url), 1) : -1;
    if (cut < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a URL has a path");
        return 0;
    }
    PyObject *start = PyUnicode_Substring(url, 0, cut), *path = PyUnicode_Substring(url, cut, PyUnicode_GET_LENGTH(url));
    PyObject *origin = start == NULL ? NULL : PyDict_GetItemWithError(args[1], start);
    PyObject *elsewhere = NULL, *prefix = NULL, *key = NULL, *row = NULL;
    int good = 0;
    if (origin != NULL)
        Py_INCREF(origin);
    else if (start != NULL && !PyErr_Occurred())
        origin = PyObject_CallOneArg(args[2], start);
    if (origin == NULL || path == NULL || (elsewhere = PyObject_GetAttr(origin, away_name)) == NULL)
        goto done;
    PyObject *depth = PyTuple_GET_ITEM(group, 1), *priority = PyTuple_GET_ITEM(group, 2), *hops = PyTuple_GET_ITEM(group, 3);
    if (elsewhere == Py_True) {
        row = PyTuple_Pack(5, origin, url, depth, priority, hops);
        good = row != NULL && PyList_Append(away, row) == 0;
        goto done;
    }
    if ((prefix = PyObject_GetAttr(origin, prefix_name)) == NULL || (key = key_of(prefix, path)) == NULL)
        goto done;
    row = PyTuple_Pack(7, origin, path, url, depth, priority, hops,
                       is_plain(url, longest, most_slashes) ? Py_True : Py_False);
    good = row != NULL && PyList_Append(wanted, row) == 0 && PyList_Append(keys, key) == 0;
done:
    Py_XDECREF(start);
    Py_XDECREF(path);
    Py_XDECREF(origin);
    Py_XDECREF(elsewhere);
    Py_XDECREF(prefix);
    Py_XDECREF(key);
    Py_XDECREF(row);
    if (!good && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "the prefix of an origin is bytes");
    return good;
}

PyDoc_STRVAR(parted_doc,
"parted(groups, origins, find, longest, slashes)\n--\n\n"
"For each URL of groups (urls, depth, priority, hops): what is wanted, the keys of that, and what is away.");

static PyObject *parted(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyList_Check(args[0]) || !PyDict_Check(args[1]) || !PyLong_Check(args[3]) || !PyLong_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "parted(groups: list, origins: dict, find, longest: int, slashes: int)");
        return NULL;
    }
    Py_ssize_t longest = PyLong_AsSsize_t(args[3]), slashes = PyLong_AsSsize_t(args[4]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *wanted = PyList_New(0), *keys = PyList_New(0), *away = PyList_New(0), *result = NULL;
    int good = wanted != NULL && keys != NULL && away != NULL;
    for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *group = Py_NewRef(PyList_GET_ITEM(args[0], i));
        if (!PyTuple_Check(group) || PyTuple_GET_SIZE(group) != 4 || !PyList_Check(PyTuple_GET_ITEM(group, 0))) {
            PyErr_SetString(PyExc_TypeError, "a group is (urls, depth, priority, hops)");
            good = 0;
        } else {
            PyObject *urls = PyTuple_GET_ITEM(group, 0);
            for (Py_ssize_t j = 0; good && j < PyList_GET_SIZE(urls); j++) {
                PyObject *url = Py_NewRef(PyList_GET_ITEM(urls, j));
                good = part(url, group, args, longest, slashes, wanted, keys, away);
                Py_DECREF(url);
            }
        }
        Py_DECREF(group);
    }
    if (good)
        result = PyTuple_Pack(3, wanted, keys, away);
    Py_XDECREF(wanted);
    Py_XDECREF(keys);
    Py_XDECREF(away);
    return result;
}

static PyMethodDef methods[] = {
    {"parted", (PyCFunction)(void (*)(void))parted, METH_FASTCALL, parted_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_intake", "Links parted, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__intake(void)
{
    if (away_name == NULL && (away_name = PyUnicode_InternFromString("away")) == NULL)
        return NULL;
    if (prefix_name == NULL && (prefix_name = PyUnicode_InternFromString("prefix")) == NULL)
        return NULL;
    return PyModule_Create(&definition);
}
