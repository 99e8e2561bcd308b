/* Which URLs were not met lately: the compiled twin of the loop in recent.py, over the same table.
 *
 * Both give the same and leave the same table (tests/contract/test_compiled.py).
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define ROW 8 /* marks: a line of the processor's cache */

PyDoc_STRVAR(fresh_doc,
"fresh(table, urls)\n--\n\n"
"Those of the list `urls` whose hashes are not in the rows of `table` that their low bits name, each once; they are there\n"
"from now on, instead of the one that has been in its row for longest. The table is an array of 64-bit numbers, a power\n"
"of two of them.");

static PyObject *fresh(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyList_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "fresh(table: array, urls: list)");
        return NULL;
    }
    Py_buffer table;
    if (PyObject_GetBuffer(args[0], &table, PyBUF_WRITABLE) < 0)
        return NULL;
    Py_ssize_t slots = table.len / (Py_ssize_t)sizeof(Py_hash_t);
    PyObject *found = NULL;
    if (slots < 1 || slots & (slots - 1)) {
        PyErr_SetString(PyExc_ValueError, "a table has a power of two of slots");
        goto done;
    }
    found = PyList_New(0);
    Py_ssize_t row = slots < ROW ? slots : ROW, mask = slots / row - 1;
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(args[1]); i++) {
        PyObject *url = PyList_GET_ITEM(args[1], i);
        Py_hash_t mark = PyObject_Hash(url);
        if (mark == -1 && PyErr_Occurred()) {
            Py_CLEAR(found);
            break;
        }
        Py_hash_t *marks = (Py_hash_t *)table.buf + (mark & mask) * row;
        Py_ssize_t at = 0;
        while (at < row && marks[at] != mark)
            at++;
        if (at < row)
            continue;
        memmove(marks + 1, marks, (row - 1) * sizeof *marks);
        *marks = mark;
        if (PyList_Append(found, url) < 0)
            Py_CLEAR(found);
    }
done:
    PyBuffer_Release(&table);
    return found;
}

static PyMethodDef methods[] = {
    {"fresh", (PyCFunction)(void (*)(void))fresh, METH_FASTCALL, fresh_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_recent", "URLs met lately, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__recent(void)
{
    return PyModule_Create(&definition);
}
