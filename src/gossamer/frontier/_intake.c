/* Links on their way into the frontier: the compiled twins of `parted_here` and `taken_here` in parting.py.
 *
 * Both give the same (tests/contract/test_compiled_packing.py).
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { SCHEME = 8, DEPTH_0 = 32, HOPS = 0x0F, DEPTHS = 256, MARKS = 512 };
static PyObject *away_name, *prefix_name, *manners_name, *priority_name, *scheme_name;

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

/* Depth, no tries, hops and marks, scheme, path; as `pack_entry`. */
static PyObject *entry_of(long depth, long hops, PyObject *scheme, PyObject *path)
{
    Py_UCS4 most = PyUnicode_MAX_CHAR_VALUE(path), widest = DEPTH_0 + (Py_UCS4)(depth > hops ? depth : hops);
    Py_ssize_t length = PyUnicode_GET_LENGTH(path);
    PyObject *entry = PyUnicode_New(4 + length, most > widest ? most : widest);
    if (entry == NULL)
        return NULL;
    Py_UCS4 first[4] = {DEPTH_0 + (Py_UCS4)depth, DEPTH_0, DEPTH_0 + (Py_UCS4)hops, PyUnicode_READ_CHAR(scheme, 0)};
    for (int i = 0; i < 4; i++)
        PyUnicode_WRITE(PyUnicode_KIND(entry), PyUnicode_DATA(entry), i, first[i]);
    if (PyUnicode_CopyCharacters(entry, 4, path, 0, length) < 0)
        Py_CLEAR(entry);
    return entry;
}

/* Put an entry to those of its origin and priority. */
static int gather(PyObject *found, PyObject *origin, PyObject *priority, PyObject *entry)
{
    PyObject *whose = PyTuple_Pack(2, origin, priority);
    if (whose == NULL)
        return 0;
    PyObject *entries = PyDict_GetItemWithError(found, whose);
    int good;
    if (entries != NULL) {
        good = PyList_Append(entries, entry) == 0;
    } else {
        entries = PyErr_Occurred() ? NULL : PyList_New(1);
        good = entries != NULL;
        if (good) {
            PyList_SET_ITEM(entries, 0, Py_NewRef(entry));
            good = PyDict_SetItem(found, whose, entries) == 0;
            Py_DECREF(entries);
        }
    }
    Py_DECREF(whose);
    return good;
}

/* One link that is not known: 1 taken, 0 unusual, -1 an error. */
static int take(PyObject *row, PyObject *key, PyObject *const *args, long most_hops)
{
    PyObject *origin = PyTuple_GET_ITEM(row, 0), *path = PyTuple_GET_ITEM(row, 1), *priority = PyTuple_GET_ITEM(row, 4);
    long depth = PyLong_AsLong(PyTuple_GET_ITEM(row, 3)), hops = PyLong_AsLong(PyTuple_GET_ITEM(row, 5));
    if (PyErr_Occurred())
        return -1;
    if (depth < 0 || hops < 0 || hops >= MARKS || (hops & HOPS) > most_hops
        || !(depth == 0 || (args[6] == Py_True && PyTuple_GET_ITEM(row, 6) == Py_True)))
        return 0;
    depth = depth < DEPTHS ? depth : DEPTHS - 1;
    PyObject *manners = PyObject_GetAttr(origin, manners_name), *scheme = PyObject_GetAttr(origin, scheme_name);
    PyObject *own = manners == NULL ? NULL : PyObject_GetAttr(manners, priority_name), *entry = NULL;
    int result = -1;
    long fixed = own == NULL ? 0 : PyLong_AsLong(own);
    if (own == NULL || scheme == NULL || PyErr_Occurred())
        goto done;
    if (fixed >= 0 || !PyUnicode_Check(scheme) || PyUnicode_GET_LENGTH(scheme) != 1 || !PyUnicode_Check(path)) {
        result = 0;
        goto done;
    }
    if ((entry = entry_of(depth, hops, scheme, path)) != NULL
        && PyDict_SetItem(args[4], key, PyTuple_GET_ITEM(args[7], depth)) == 0 && gather(args[5], origin, priority, entry))
        result = 1;
done:
    Py_XDECREF(manners);
    Py_XDECREF(scheme);
    Py_XDECREF(own);
    Py_XDECREF(entry);
    return result;
}

PyDoc_STRVAR(taken_doc,
"taken(start, keys, known, wanted, changes, found, forms_only, queued, most_hops)\n--\n\n"
"From `start` on: what is new and needs no judgement is noted in `changes` and gathered in `found`. Gives the number of\n"
"the first that does need one, or how many there are, and how many stood there twice.");

static PyObject *taken(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 9 || !PyLong_Check(args[0]) || !PyList_Check(args[1]) || !PyList_Check(args[2]) || !PyList_Check(args[3])
        || !PyDict_Check(args[4]) || !PyDict_Check(args[5]) || !PyTuple_Check(args[7])
        || PyTuple_GET_SIZE(args[7]) != DEPTHS || PyList_GET_SIZE(args[1]) != PyList_GET_SIZE(args[2])
        || PyList_GET_SIZE(args[1]) != PyList_GET_SIZE(args[3])) {
        PyErr_SetString(PyExc_TypeError, "taken(start: int, keys: list, known: list, wanted: list, changes: dict, "
                                         "found: dict, forms_only: bool, queued: tuple, most_hops: int)");
        return NULL;
    }
    Py_ssize_t at = PyLong_AsSsize_t(args[0]), twice = 0;
    long most_hops = PyLong_AsLong(args[8]);
    if (PyErr_Occurred())
        return NULL;
    for (; at >= 0 && at < PyList_GET_SIZE(args[1]); at++) {
        PyObject *key = PyList_GET_ITEM(args[1], at), *row = PyList_GET_ITEM(args[3], at);
        if (PyList_GET_ITEM(args[2], at) == Py_True)
            continue;
        int met = PyDict_Contains(args[4], key);
        if (met > 0) {
            twice++;
            continue;
        }
        if (met == 0 && (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != 7))
            PyErr_SetString(PyExc_TypeError, "what is wanted has seven parts");
        int done = PyErr_Occurred() ? -1 : take(row, key, args, most_hops);
        if (done < 0)
            return NULL;
        if (!done)
            break;
    }
    return Py_BuildValue("nn", at, twice);
}

static PyMethodDef methods[] = {
    {"taken", (PyCFunction)(void (*)(void))taken, METH_FASTCALL, taken_doc},
    {"parted", (PyCFunction)(void (*)(void))parted, METH_FASTCALL, parted_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_intake", "Links parted, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__intake(void)
{
    struct { const char *word; PyObject **name; } names[] = {
        {"away", &away_name}, {"prefix", &prefix_name}, {"manners", &manners_name}, {"priority", &priority_name},
        {"scheme", &scheme_name},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i].name == NULL && (*names[i].name = PyUnicode_InternFromString(names[i].word)) == NULL)
            return NULL;
    return PyModule_Create(&definition);
}
