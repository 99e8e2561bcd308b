/* Visits on their way through the fetcher where nothing about them is unusual: what `Fetcher.start`, `Transfer` and
 * `Fetcher._outcome` do then.
 *
 * Each function does all that they do, or nothing and leaves it to them: they are the reference
 * (tests/contract/test_compiled_transfer.py). Slots of objects are read and written where they are; `bind` finds out.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "../model/_slots.h"
#include "_head.h"

enum { TRANSFER, LIMITS, ROUTE, VISIT, CLASSES };
static PyTypeObject *classes[CLASSES];

#define SLOTS(SLOT) \
    SLOT(TRANSFER, access) SLOT(TRANSFER, asked_with) SLOT(TRANSFER, curl) SLOT(TRANSFER, head) \
    SLOT(TRANSFER, refused) SLOT(TRANSFER, route) SLOT(TRANSFER, started) SLOT(TRANSFER, target) \
    SLOT(TRANSFER, visit) SLOT(TRANSFER, _asked) SLOT(TRANSFER, _asks_with) SLOT(TRANSFER, _chunks) \
    SLOT(TRANSFER, _kept) SLOT(TRANSFER, _limits) SLOT(TRANSFER, _lines) SLOT(TRANSFER, _method) \
    SLOT(TRANSFER, _more) SLOT(TRANSFER, _opened) SLOT(TRANSFER, _size) SLOT(TRANSFER, _status) \
    SLOT(TRANSFER, _stopped) SLOT(TRANSFER, _type) SLOT(TRANSFER, _wanted) \
    SLOT(LIMITS, _types) SLOT(LIMITS, max_body) SLOT(LIMITS, max_headers) SLOT(LIMITS, max_length) \
    SLOT(ROUTE, refused) SLOT(ROUTE, several) SLOT(ROUTE, target) SLOT(ROUTE, until) \
    SLOT(VISIT, host) SLOT(VISIT, method) SLOT(VISIT, robots) SLOT(VISIT, url) SLOT(VISIT, validators)
#define NUMBER(class, name) class##_##name,
#define WHERE(class, name) {class, #name},
enum { SLOTS(NUMBER) COUNT };
static const struct { int class; const char *name; } slots[COUNT] = { SLOTS(WHERE) };
static Py_ssize_t offsets[COUNT];

enum { FEW = 16 /* pieces of a body */, MANY = 1000 /* lines of a head */ };
static PyObject *page_class, *option_url, *info_address; /* as given to `bind` */
static PyObject *no_bytes, *no_text, *zero;
static PyObject *name_setopt, *name_getinfo, *name_add_handle, *name_remove_handle, *name_clear;
static PyObject *name_on_body, *name_before_request;

/* -- objects ----------------------------------------------------------------------------------------------------- */

static int is_a(PyObject *object, int class)
{
    return object != NULL && Py_IS_TYPE(object, classes[class]);
}

/* Borrowed; NULL where nothing was set. */
static PyObject *get(PyObject *object, int slot)
{
    return *(PyObject **)((char *)object + offsets[slot]);
}

static void set(PyObject *object, int slot, PyObject *value)
{
    PyObject **place = (PyObject **)((char *)object + offsets[slot]), *before = *place;
    *place = Py_NewRef(value);
    Py_XDECREF(before);
}

static int is_bytes(PyObject *object)
{
    return object != NULL && PyBytes_CheckExact(object);
}

static int is_list(PyObject *object)
{
    return object != NULL && PyList_CheckExact(object);
}

static int is_float(PyObject *object)
{
    return object != NULL && PyFloat_CheckExact(object);
}

static int is_text(PyObject *object)
{
    return object != NULL && PyUnicode_CheckExact(object);
}

static int is_no_text(PyObject *object)
{
    return is_text(object) && PyUnicode_GET_LENGTH(object) == 0;
}

/* -1 for what is no number of something that could be counted here. */
static Py_ssize_t number_of(PyObject *object)
{
    if (object == NULL || !PyLong_CheckExact(object))
        return -1;
    Py_ssize_t number = PyLong_AsSsize_t(object);
    if (number == -1 && PyErr_Occurred())
        PyErr_Clear();
    return number;
}

static PyObject *joined(PyObject *pieces)
{
    Py_ssize_t size = 0, count = PyList_GET_SIZE(pieces);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *piece = PyList_GET_ITEM(pieces, i);
        if (!PyBytes_CheckExact(piece) || PyBytes_GET_SIZE(piece) > PY_SSIZE_T_MAX / 2 - size) {
            PyErr_SetString(PyExc_TypeError, "the pieces of a response are bytes");
            return NULL;
        }
        size += PyBytes_GET_SIZE(piece);
    }
    if (count == 1)
        return Py_NewRef(PyList_GET_ITEM(pieces, 0));
    PyObject *whole = PyBytes_FromStringAndSize(NULL, size);
    if (whole == NULL)
        return NULL;
    char *to = PyBytes_AS_STRING(whole);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *piece = PyList_GET_ITEM(pieces, i);
        memcpy(to, PyBytes_AS_STRING(piece), (size_t)PyBytes_GET_SIZE(piece));
        to += PyBytes_GET_SIZE(piece);
    }
    return whole;
}

/* -- heads ------------------------------------------------------------------------------------------------------- */

/* What `_end_of_headers` does. 1: done; 0: unusual, and nothing was; -1: an error. */
static int read_head(PyObject *transfer)
{
    PyObject *visit = get(transfer, TRANSFER_visit), *limits = get(transfer, TRANSFER__limits);
    PyObject *lines = get(transfer, TRANSFER__lines);
    if (!is_a(visit, VISIT) || !is_a(limits, LIMITS) || lines == NULL || !is_no_text(get(transfer, TRANSFER__stopped)))
        return 0;
    PyObject *types = get(limits, LIMITS__types);
    Py_ssize_t most = number_of(get(limits, LIMITS_max_headers)), longest = number_of(get(limits, LIMITS_max_length));
    if (types == NULL || !PyDict_CheckExact(types) || longest < 0)
        return 0;
    PyObject *pieces = PySequence_List(lines), *head = NULL, *key = NULL, *status = NULL;
    int done = -1;
    if (pieces == NULL || (head = joined(pieces)) == NULL)
        goto end;
    done = 0;
    Head said = look(PyBytes_AS_STRING(head), PyBytes_GET_SIZE(head));
    if (PyBytes_GET_SIZE(head) > most || PyList_GET_SIZE(pieces) >= MANY || said.status < 200 || said.types != 1)
        goto end;
    done = -1;
    if ((key = PyBytes_FromStringAndSize(said.type, said.type_length)) == NULL)
        goto end;
    PyObject *known = PyDict_GetItemWithError(types, key);
    if (known == NULL && PyErr_Occurred())
        goto end;
    done = 0;
    if (known == NULL || !PyTuple_CheckExact(known) || PyTuple_GET_SIZE(known) != 2)
        goto end;
    PyObject *type = PyTuple_GET_ITEM(known, 0), *wanted = PyTuple_GET_ITEM(known, 1);
    if (wanted != Py_True || (longest > 0 && said.length > longest))
        goto end;
    done = -1;
    if ((status = PyLong_FromLong(said.status)) == NULL)
        goto end;
    set(transfer, TRANSFER_head, head);
    set(transfer, TRANSFER__status, status);
    set(transfer, TRANSFER__type, type);
    set(transfer, TRANSFER__wanted, wanted);
    done = 1;
end:
    Py_XDECREF(pieces);
    Py_XDECREF(head);
    Py_XDECREF(key);
    Py_XDECREF(status);
    return done;
}

/* -- what libcurl calls ------------------------------------------------------------------------------------------ */

/* What `_on_body` does, as `read_head` says. */
static int keep(PyObject *transfer, PyObject *data)
{
    PyObject *limits = get(transfer, TRANSFER__limits), *head = get(transfer, TRANSFER_head);
    if (!is_bytes(data) || !is_bytes(head) || !is_a(limits, LIMITS))
        return 0;
    int read = PyBytes_GET_SIZE(head) > 0 ? 1 : read_head(transfer);
    if (read < 1)
        return read;
    PyObject *chunks = get(transfer, TRANSFER__chunks);
    Py_ssize_t size = number_of(get(transfer, TRANSFER__size)), most = number_of(get(limits, LIMITS_max_body));
    if (size < 0 || most < size || PyBytes_GET_SIZE(data) > most - size)
        return 0;
    if (!is_list(chunks) || PyList_GET_SIZE(chunks) >= FEW || get(transfer, TRANSFER__more) != Py_None)
        return 0;
    PyObject *new_size = PyLong_FromSsize_t(size + PyBytes_GET_SIZE(data));
    if (new_size == NULL || PyList_Append(chunks, data) < 0) {
        Py_XDECREF(new_size);
        return -1;
    }
    set(transfer, TRANSFER__size, new_size);
    Py_DECREF(new_size);
    return 1;
}

static PyObject *on_body(PyObject *transfer, PyObject *data)
{
    int done = is_a(transfer, TRANSFER) ? keep(transfer, data) : 0;
    if (done < 0)
        return NULL;
    return done ? Py_NewRef(Py_None) : PyObject_CallMethodOneArg(transfer, name_on_body, data);
}

static PyObject *before_request(PyObject *transfer, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    if (!is_a(transfer, TRANSFER) || get(transfer, TRANSFER__asked) != Py_False)
        return PyObject_CallMethodNoArgs(transfer, name_before_request);
    set(transfer, TRANSFER__asked, Py_True);
    set(transfer, TRANSFER__kept, get(transfer, TRANSFER__opened) == Py_True ? Py_False : Py_True);
    return Py_NewRef(zero); /* PREREQFUNC_OK */
}

static PyMethodDef on_body_method = {"on_body", on_body, METH_O, NULL};
static PyMethodDef before_request_method = {
    "before_request", (PyCFunction)(void (*)(void))before_request, METH_FASTCALL, NULL,
};

PyDoc_STRVAR(body_taker_doc,
"body_taker(transfer)\n--\n\n"
"For WRITEFUNCTION.");

static PyObject *body_taker(PyObject *Py_UNUSED(module), PyObject *transfer)
{
    return PyCFunction_New(&on_body_method, transfer);
}

PyDoc_STRVAR(announcer_doc,
"announcer(transfer)\n--\n\n"
"For PREREQFUNCTION.");

static PyObject *announcer(PyObject *Py_UNUSED(module), PyObject *transfer)
{
    return PyCFunction_New(&before_request_method, transfer);
}

/* -- beginning --------------------------------------------------------------------------------------------------- */

static int is_plain_route(PyObject *route, PyObject *now)
{
    if (!is_a(route, ROUTE) || get(route, ROUTE_several) != Py_False)
        return 0;
    PyObject *until = get(route, ROUTE_until), *refused = get(route, ROUTE_refused);
    return is_float(until) && PyFloat_AS_DOUBLE(until) > PyFloat_AS_DOUBLE(now) && refused != NULL
        && PyDict_CheckExact(refused) && PyDict_GET_SIZE(refused) == 0 && is_text(get(route, ROUTE_target));
}

/* Whether the handle needs no other settings than it had for the visit before. */
static int is_set_for(PyObject *transfer, PyObject *visit, PyObject *route)
{
    PyObject *method = get(visit, VISIT_method), *target = get(transfer, TRANSFER_target);
    PyObject *validators = get(visit, VISIT_validators), *asks_with = get(transfer, TRANSFER__asks_with);
    if (method == NULL || method != get(transfer, TRANSFER__method) || get(transfer, TRANSFER_curl) == NULL)
        return 0;
    if (!is_text(target) || PyUnicode_Compare(target, get(route, ROUTE_target)) != 0)
        return 0;
    return validators != NULL && asks_with != NULL && PyTuple_CheckExact(validators) && PyTuple_CheckExact(asks_with)
        ? PyObject_RichCompareBool(validators, asks_with, Py_EQ) : 0;
}

static int called(PyObject *name, PyObject *object, PyObject *first, PyObject *second)
{
    PyObject *args[] = {object, first, second};
    PyObject *result = PyObject_VectorcallMethod(name, args, second == NULL ? 2 : 3, NULL);
    Py_XDECREF(result);
    return result != NULL;
}

PyDoc_STRVAR(start_doc,
"start(visit, routes, now, free, busy, multi)\n--\n\n"
"Whether a visit was begun with a free transfer.");

static PyObject *start(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 6 || !PyDict_Check(args[1]) || !PyList_Check(args[3]) || !PyDict_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "start(visit, routes: dict, now, free: list, busy: dict, multi)");
        return NULL;
    }
    PyObject *visit = args[0], *now = args[2], *free = args[3], *busy = args[4], *multi = args[5];
    Py_ssize_t last = PyList_GET_SIZE(free) - 1;
    if (last < 0 || !is_a(visit, VISIT) || get(visit, VISIT_robots) != Py_False || !is_float(now))
        Py_RETURN_FALSE;
    PyObject *url = get(visit, VISIT_url), *host = get(visit, VISIT_host);
    if (!is_text(url) || !is_text(host))
        Py_RETURN_FALSE;
    PyObject *route = PyDict_GetItemWithError(args[1], host), *transfer = PyList_GET_ITEM(free, last);
    if (route == NULL && PyErr_Occurred())
        return NULL;
    if (!is_plain_route(route, now) || !is_a(transfer, TRANSFER))
        Py_RETURN_FALSE;
    int usual = is_set_for(transfer, visit, route);
    if (usual < 1)
        return usual < 0 ? NULL : Py_NewRef(Py_False);
    Py_INCREF(transfer);
    Py_INCREF(url);
    PyObject *curl = Py_NewRef(get(transfer, TRANSFER_curl)), *done = NULL;
    if (PyList_SetSlice(free, last, last + 1, NULL) < 0)
        goto end;
    set(transfer, TRANSFER_visit, visit);
    set(transfer, TRANSFER_route, route);
    set(transfer, TRANSFER_started, now);
    set(transfer, TRANSFER__asked, Py_False);
    set(transfer, TRANSFER__opened, Py_False);
    set(transfer, TRANSFER_refused, no_text);
    if (called(name_setopt, curl, option_url, url) && PyDict_SetItem(busy, curl, transfer) == 0
        && called(name_add_handle, multi, curl, NULL))
        done = Py_NewRef(Py_True);
end:
    Py_DECREF(transfer);
    Py_DECREF(url);
    Py_DECREF(curl);
    return done;
}

/* -- finishing --------------------------------------------------------------------------------------------------- */

/* Writes text at `to`, and gives where it ends. */
static char *write_at(char *to, const char *text, Py_ssize_t size)
{
    memcpy(to, text, (size_t)size);
    return to + size;
}

/* The request for a URL in ASCII, as `Fetcher._request` writes it; NULL without an error where it has no path. */
static PyObject *request_for(PyObject *url, PyObject *tail)
{
    static const char get_it[] = "GET ", version[] = " HTTP/1.1\r\nHost: ";
    const char *at = (const char *)PyUnicode_1BYTE_DATA(url), *end = at + PyUnicode_GET_LENGTH(url);
    const char *host = strstr(at, "//"), *path = host == NULL ? NULL : strchr(host + 2, '/');
    if (path == NULL)
        return NULL;
    host += 2;
    Py_ssize_t fixed = (Py_ssize_t)(sizeof get_it + sizeof version - 2);
    PyObject *request = PyBytes_FromStringAndSize(NULL, fixed + (end - host) + PyBytes_GET_SIZE(tail));
    if (request == NULL)
        return NULL;
    char *to = write_at(PyBytes_AS_STRING(request), get_it, sizeof get_it - 1);
    to = write_at(to, path, end - path);
    to = write_at(to, version, sizeof version - 1);
    to = write_at(to, host, path - host);
    write_at(to, PyBytes_AS_STRING(tail), PyBytes_GET_SIZE(tail));
    return request;
}

/* Whether there is nothing to a response but a body of a known type, sent as it is, and all of it. */
static int is_plain_response(PyObject *transfer, PyObject *now)
{
    PyObject *visit = get(transfer, TRANSFER_visit), *route = get(transfer, TRANSFER_route);
    PyObject *asked_with = get(transfer, TRANSFER_asked_with), *head = get(transfer, TRANSFER_head);
    if (!is_a(visit, VISIT) || !is_a(route, ROUTE) || get(route, ROUTE_several) != Py_False || !is_float(now))
        return 0;
    if (get(transfer, TRANSFER_access) != Py_None || !is_bytes(asked_with) || PyBytes_GET_SIZE(asked_with) > 0)
        return 0;
    if (!is_bytes(head) || get(transfer, TRANSFER__lines) == NULL || get(transfer, TRANSFER_curl) == NULL)
        return 0;
    int read = PyBytes_GET_SIZE(head) > 0 ? 1 : read_head(transfer);
    if (read < 1)
        return read;
    head = get(transfer, TRANSFER_head);
    Py_ssize_t status = number_of(get(transfer, TRANSFER__status));
    if (status < 200 || status == 304 || !is_text(get(transfer, TRANSFER__type)) || get(transfer, TRANSFER__wanted) == NULL)
        return 0;
    if (!is_no_text(get(transfer, TRANSFER__stopped)) || get(transfer, TRANSFER__more) != Py_None)
        return 0;
    PyObject *url = get(visit, VISIT_url);
    if (!is_text(url) || !PyUnicode_IS_ASCII(url) || !is_list(get(transfer, TRANSFER__chunks))
        || !is_float(get(transfer, TRANSFER_started)))
        return 0;
    Head said = look(PyBytes_AS_STRING(head), PyBytes_GET_SIZE(head));
    return said.status && said.complete && !said.encoded && said.length < LLONG_MAX;
}

static int reset(PyObject *transfer)
{
    PyObject *chunks = get(transfer, TRANSFER__chunks), *lines = get(transfer, TRANSFER__lines);
    set(transfer, TRANSFER_visit, Py_None);
    set(transfer, TRANSFER_head, no_bytes);
    set(transfer, TRANSFER__status, zero);
    set(transfer, TRANSFER__size, zero);
    PyObject *cleared = PyObject_CallMethodNoArgs(lines, name_clear);
    Py_XDECREF(cleared);
    return cleared != NULL && PyList_SetSlice(chunks, 0, PyList_GET_SIZE(chunks), NULL) == 0;
}

/* What `Fetcher._outcome` gives; NULL without an error where the response is unusual, and nothing was done. */
static PyObject *outcome_of(PyObject *transfer, PyObject *tail, PyObject *now)
{
    if (!is_a(transfer, TRANSFER) || is_plain_response(transfer, now) < 1)
        return NULL;
    PyObject *visit = Py_NewRef(get(transfer, TRANSFER_visit)), *url = get(visit, VISIT_url);
    PyObject *request = request_for(url, tail), *body = NULL, *seconds = NULL, *address = NULL, *outcome = NULL;
    if (request == NULL)
        goto end;
    PyObject *asked[] = {get(transfer, TRANSFER_curl), info_address};
    body = joined(get(transfer, TRANSFER__chunks));
    seconds = PyFloat_FromDouble(PyFloat_AS_DOUBLE(now) - PyFloat_AS_DOUBLE(get(transfer, TRANSFER_started)));
    address = PyObject_VectorcallMethod(name_getinfo, asked, 2, NULL);
    if (body == NULL || seconds == NULL || address == NULL)
        goto end;
    PyObject *fields[] = {
        url, get(transfer, TRANSFER__status), get(transfer, TRANSFER_head), body, body, now, seconds, address, request,
        no_text, get(transfer, TRANSFER__type), no_bytes, get(transfer, TRANSFER__wanted),
    };
    PyObject *page = PyObject_Vectorcall(page_class, fields, sizeof fields / sizeof *fields, NULL);
    if (page != NULL && reset(transfer))
        outcome = PyTuple_Pack(2, visit, page);
    Py_XDECREF(page);
end:
    Py_DECREF(visit);
    Py_XDECREF(request);
    Py_XDECREF(body);
    Py_XDECREF(seconds);
    Py_XDECREF(address);
    return outcome;
}

/* Takes the transfer of a handle out of those that are busy. */
static PyObject *taken(PyObject *busy, PyObject *curl)
{
    PyObject *transfer = PyDict_GetItemWithError(busy, curl);
    if (transfer == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetObject(PyExc_KeyError, curl);
        return NULL;
    }
    Py_INCREF(transfer);
    if (PyDict_DelItem(busy, curl) < 0)
        Py_CLEAR(transfer);
    return transfer;
}

PyDoc_STRVAR(finish_doc,
"finish(finished, busy, multi, free, tail, otherwise, now)\n--\n\n"
"The outcomes of transfers that ended without an error; `otherwise` is asked for those that are unusual.");

static PyObject *finish(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 7 || !PyList_Check(args[0]) || !PyDict_Check(args[1]) || !PyList_Check(args[3])
        || !PyBytes_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "finish(finished: list, busy: dict, multi, free: list, tail: bytes, otherwise, now)");
        return NULL;
    }
    PyObject *busy = args[1], *multi = args[2], *free = args[3], *tail = args[4], *now = args[6];
    PyObject *outcomes = PyList_New(0);
    for (Py_ssize_t i = 0; outcomes != NULL && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *curl = Py_NewRef(PyList_GET_ITEM(args[0], i)), *transfer = NULL, *outcome = NULL;
        if (called(name_remove_handle, multi, curl, NULL) && (transfer = taken(busy, curl)) != NULL) {
            outcome = outcome_of(transfer, tail, now);
            if (outcome != NULL && PyList_Append(free, transfer) < 0)
                Py_CLEAR(outcome);
            if (outcome == NULL && !PyErr_Occurred()) {
                PyObject *fields[] = {transfer, zero, no_text, now};
                outcome = PyObject_Vectorcall(args[5], fields, 4, NULL);
            }
        }
        if (outcome == NULL || PyList_Append(outcomes, outcome) < 0)
            Py_CLEAR(outcomes);
        Py_DECREF(curl);
        Py_XDECREF(transfer);
        Py_XDECREF(outcome);
    }
    return outcomes;
}

/* -- the module -------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(bind_doc,
"bind(transfer, limits, route, visit, page, url, address)\n--\n\n"
"The classes whose objects are read and made here, and libcurl's numbers of URL and PRIMARY_IP. Once, before all else.");

static PyObject *bind(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != CLASSES + 3) {
        PyErr_SetString(PyExc_TypeError, "bind(transfer, limits, route, visit, page, url, address)");
        return NULL;
    }
    for (int i = 0; i < CLASSES; i++) {
        if (!PyType_Check(args[i])) {
            PyErr_SetString(PyExc_TypeError, "classes are bound");
            return NULL;
        }
        Py_XSETREF(classes[i], (PyTypeObject *)Py_NewRef(args[i]));
    }
    for (int i = 0; i < COUNT; i++)
        if (!find_slot(classes[slots[i].class], slots[i].name, &offsets[i]))
            return NULL;
    Py_XSETREF(page_class, Py_NewRef(args[CLASSES]));
    Py_XSETREF(option_url, Py_NewRef(args[CLASSES + 1]));
    Py_XSETREF(info_address, Py_NewRef(args[CLASSES + 2]));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"announcer", announcer, METH_O, announcer_doc},
    {"bind", (PyCFunction)(void (*)(void))bind, METH_FASTCALL, bind_doc},
    {"body_taker", body_taker, METH_O, body_taker_doc},
    {"finish", (PyCFunction)(void (*)(void))finish, METH_FASTCALL, finish_doc},
    {"start", (PyCFunction)(void (*)(void))start, METH_FASTCALL, start_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_transfer", "Visits that are not unusual, compiled.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__transfer(void)
{
    static const struct { PyObject **place; const char *text; } names[] = {
        {&no_text, ""}, {&name_setopt, "setopt"}, {&name_getinfo, "getinfo"}, {&name_add_handle, "add_handle"},
        {&name_remove_handle, "remove_handle"}, {&name_clear, "clear"}, {&name_on_body, "_on_body"},
        {&name_before_request, "_before_request"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i].place == NULL && (*names[i].place = PyUnicode_InternFromString(names[i].text)) == NULL)
            return NULL;
    if (no_bytes == NULL && (no_bytes = PyBytes_FromStringAndSize(NULL, 0)) == NULL)
        return NULL;
    if (zero == NULL && (zero = PyLong_FromLong(0)) == NULL)
        return NULL;
    return PyModule_Create(&definition);
}
