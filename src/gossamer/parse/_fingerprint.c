/* What takes long in comparing pages: the compiled twins of three steps of fingerprint.py.
 *
 * Both give the same (tests/contract/test_compiled.py). Nothing is read beyond the end.
 */

#include "_text.h"

PyDoc_STRVAR(names_doc, "names(body, host)\n--\n\nWhether the name of a host, which has a dot in it, stands in a page.");

static PyObject *names(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_Check(args[0]) || !PyBytes_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "names(body: bytes, host: bytes)");
        return NULL;
    }
    text at = (text)PyBytes_AS_STRING(args[0]), end = at + PyBytes_GET_SIZE(args[0]);
    const char *host = PyBytes_AS_STRING(args[1]);
    Py_ssize_t length = PyBytes_GET_SIZE(args[1]);
    const char *dot = memchr(host, '.', length);
    if (dot == NULL)
        Py_RETURN_FALSE;
    /* Pages have fewer dots than letters: each is looked at. */
    Py_ssize_t before = dot - host, after = length - before;
    for (at += before; at < end && (at = memchr(at, '.', end - at)) != NULL && end - at >= after; at++)
        if (!memcmp(at - before, host, length))
            Py_RETURN_TRUE;
    Py_RETURN_FALSE;
}

/* From behind a `<`, where what is no text ends. */
static text past_markup(text at, text end)
{
    const char *raw = is_name(at, end, "script", 6) ? "script" : is_name(at, end, "style", 5) ? "style" : NULL;
    if (raw != NULL) {
        Py_ssize_t length = (Py_ssize_t)strlen(raw);
        while ((at = memchr(at, '<', end - at)) != NULL) {
            if (end - at > 1 && at[1] == '/' && is_name(at + 2, end, raw, length))
                return at;
            at++;
        }
        return end;
    }
    if (end - at > 2 && !memcmp(at, "!--", 3)) {
        for (at += 3; (at = memchr(at, '-', end - at)) != NULL; at++)
            if (end - at > 2 && at[1] == '-' && at[2] == '>')
                return at + 3;
        return end;
    }
    at = memchr(at, '>', end - at);
    return at == NULL ? end : at + 1;
}

static inline int is_blank(unsigned char byte)
{
    return byte == ' ' || (byte >= 0x09 && byte <= 0x0d);
}

/* The next word from `*at` on: where it ends, and in `*at` where it begins. NULL: there is none. */
static text next_word(text *at, text end)
{
    text here = *at;
    while (here < end && (*here == '<' || is_blank(*here)))
        here = *here == '<' ? past_markup(here + 1, end) : here + 1;
    if (here == end)
        return NULL;
    *at = here;
    while (here < end && *here != '<' && !is_blank(*here))
        here++;
    return here;
}

static PyObject *word_of(text at, text end)
{
    /* Made empty and then filled: bytes of one letter that are made full are everybody's. */
    PyObject *word = PyBytes_FromStringAndSize(NULL, end - at);
    if (word != NULL) {
        char *into = PyBytes_AS_STRING(word);
        while (at < end)
            *into++ = (char)lower(*at++);
    }
    return word;
}

PyDoc_STRVAR(words_doc,
"words(page, blocks, block)\n--\n\n"
"Words of a page in lower case, in whatever encoding they are, without its markup: all, or of more than there is room for\n"
"in so many blocks of so many words, blocks from all over the page. What has a slash in it is an address and no word.");

static PyObject *words(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyBytes_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "words(page: bytes, blocks: int, block: int)");
        return NULL;
    }
    Py_ssize_t blocks = PyLong_AsSsize_t(args[1]), block = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred())
        return NULL;
    if (blocks < 2 || block < 1 || blocks > PY_SSIZE_T_MAX / block) {
        PyErr_SetString(PyExc_ValueError, "words(): two blocks at least, of one word at least");
        return NULL;
    }
    text start = (text)PyBytes_AS_STRING(args[0]), end = start + PyBytes_GET_SIZE(args[0]), at = start, stop;
    Py_ssize_t total = 0;
    for (; (stop = next_word(&at, end)) != NULL; at = stop)
        total++;
    int all = total <= blocks * block;
    double step = (double)(total - block) / (double)(blocks - 1);
    PyObject *found = PyList_New(0);
    at = start;
    /* Blocks do not overlap: there are more words than they have room for. */
    for (Py_ssize_t number = 0, at_block = 0; found != NULL && (stop = next_word(&at, end)) != NULL; number++, at = stop) {
        if (!all) {
            while (at_block < blocks && number >= (Py_ssize_t)(step * (double)at_block) + block)
                at_block++;
            if (at_block == blocks)
                break;
            if (number < (Py_ssize_t)(step * (double)at_block))
                continue;
        }
        if (memchr(at, '/', stop - at) != NULL)
            continue;
        PyObject *word = word_of(at, stop);
        if (word == NULL || PyList_Append(found, word) < 0)
            Py_CLEAR(found);
        Py_XDECREF(word);
    }
    return found;
}

PyDoc_STRVAR(majority_doc,
"majority(votes)\n--\n\nThe bits that more than half of some numbers of 64 bits have, which stand one after the other, low bytes first.");

static PyObject *majority(PyObject *Py_UNUSED(module), PyObject *votes)
{
    if (!PyBytes_Check(votes) || PyBytes_GET_SIZE(votes) % 8) {
        PyErr_SetString(PyExc_TypeError, "majority(votes: bytes), eight of them a number");
        return NULL;
    }
    text at = (text)PyBytes_AS_STRING(votes);
    Py_ssize_t count = PyBytes_GET_SIZE(votes) / 8, sums[64] = {0};
    for (Py_ssize_t i = 0; i < count; i++)
        for (int bit = 0; bit < 64; bit++)
            sums[bit] += at[8 * i + bit / 8] >> bit % 8 & 1;
    unsigned long long found = 0;
    for (int bit = 0; bit < 64; bit++)
        found |= (unsigned long long)(sums[bit] > count / 2) << bit;
    return PyLong_FromUnsignedLongLong(found);
}

static PyMethodDef methods[] = {
    {"names", (PyCFunction)(void (*)(void))names, METH_FASTCALL, names_doc},
    {"words", (PyCFunction)(void (*)(void))words, METH_FASTCALL, words_doc},
    {"majority", majority, METH_O, majority_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_fingerprint", "Comparing pages, compiled.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__fingerprint(void)
{
    return PyModule_Create(&definition);
}
