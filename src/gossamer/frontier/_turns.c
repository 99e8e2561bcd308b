/* The usual course of a visit through the frontier: leased, begun, settled, its host offered again. turns.py says what
 * is usual.
 *
 * Each function does all that the Python code does, or nothing and says so: then that code runs. Both leave the same
 * (tests/contract/test_compiled_turns.py). Objects are those of the Python classes: where their slots are is looked up
 * once (`bind`), and the type of each is checked before it is looked into.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "../model/_slots.h"

/* The slots that are used, by class. */
#define HOST_SLOTS(X) \
    X(added_delay) X(address) X(burst) X(closed) X(crawl_delay) X(dirty) X(domain) X(due) X(failures) X(groups) \
    X(leased) X(levels) X(manners) X(mirror_of) X(name) X(pages) X(pauses) X(place) X(robots) X(spot) X(visits) X(yields)
#define LEVEL_SLOTS(X) X(chunks) X(finished) X(more) X(priority) X(returned)
#define CHUNK_SLOTS(X) X(entries) X(first) X(left) X(stored) X(taken)
#define GROUP_SLOTS(X) X(due) X(held) X(in_hand) X(most) X(next)
#define ENTRY_SLOTS(X) X(priority) X(number) X(depth) X(tries) X(hops) X(scheme) X(path) X(chunk)
#define VISIT_SLOTS(X) X(host) X(depth) X(number) X(tries) X(before)
#define COUNTS_SLOTS(X) X(queued) X(fetched) X(surplus)
#define YIELDS_SLOTS(X) X(barren)
#define MANNERS_SLOTS(X) \
    X(delay) X(delay_factor) X(max_crawl_delay) X(connections) X(burst) X(max_pages) X(priority) X(skips) X(blocked) \
    X(blocked_paths)
#define SCHEDULE_SLOTS(X) \
    X(_ready) X(_ready_hosts) X(_waiting) X(_due_then) X(_ready_of) X(_turn) X(held) X(ready) X(waiting) X(leased)

#define CLASSES(X) \
    X(HOST, HostQueue) X(LEVEL, Level) X(CHUNK, Chunk) X(GROUP, Group) X(ENTRY, Entry) X(VISIT, Visit) \
    X(COUNTS, Counts) X(YIELDS, Yields) X(MANNERS, Manners) X(SCHEDULE, Schedule)

#define SLOT_NAME(name) #name,
#define SLOT_FIELD(name) Py_ssize_t name;
#define LAYOUT(kind, class) \
    static struct { PyTypeObject *type; struct { kind##_SLOTS(SLOT_FIELD) } at; } kind; \
    static const char *const kind##_names[] = {kind##_SLOTS(SLOT_NAME) NULL};
CLASSES(LAYOUT)

/* What a slot holds, borrowed; NULL where it was never set. */
#define GET(kind, of, slot) (*(PyObject **)((char *)(of) + kind.at.slot))
#define SET(kind, of, slot, value) put(&GET(kind, of, slot), value)
#define IS(kind, it) ((it) != NULL && Py_TYPE(it) == kind.type)

enum { SPREAD = 64, TURN_BITS = 24, TURNS = (1 << TURN_BITS) - 1, DEPTH_0 = 32, MARKED = 4 };
static const long long MOST_NUMBER = 1LL << 38; /* of a place in the order, in 64 bits; larger ones are Python's */

static PyObject *idle, *is_ready, *is_waiting; /* members of Place */
static PyObject *fetched, *busy, *pack_page, *heap_push, *heap_pop, *scheme_starts, *robots_number;
static PyObject *empty_text, *empty_bytes, *zero;
static PyObject *allows_name, *wake_name, *remove_name, *pass_on_name, *hold_name, *begin_name;
static long aside;

/* Takes over the reference. */
static int put(PyObject **slot, PyObject *value)
{
    if (value == NULL)
        return 0;
    PyObject *before = *slot;
    *slot = value;
    Py_XDECREF(before);
    return 1;
}

/* Numbers of slots are int or float by what they are for; anything else is unusual. */
static int whole(PyObject *from, long long *found)
{
    int over = 0;
    if (from == NULL || !PyLong_CheckExact(from))
        return 0;
    *found = PyLong_AsLongLongAndOverflow(from, &over);
    return !over;
}

static int real(PyObject *from, double *found)
{
    long long number;
    if (from != NULL && PyFloat_CheckExact(from)) {
        *found = PyFloat_AS_DOUBLE(from);
        return 1;
    }
    if (!whole(from, &number))
        return 0;
    *found = (double)number;
    return 1;
}

static int add(PyObject **slot, long long more)
{
    long long number;
    if (!whole(*slot, &number)) {
        PyErr_SetString(PyExc_TypeError, "a count of the frontier is no number");
        return 0;
    }
    return put(slot, PyLong_FromLongLong(number + more));
}

#define ADD(kind, of, slot, more) add(&GET(kind, of, slot), more)

/* What comes next of a level, its place in the chunk noted as in Python; NULL: nothing in memory, or unusual. */
static PyObject *next_chunk(PyObject *level, long long *taken)
{
    PyObject *chunks = GET(LEVEL, level, chunks);
    if (chunks == NULL || !PyList_CheckExact(chunks))
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(chunks); i++) {
        PyObject *chunk = PyList_GET_ITEM(chunks, i);
        PyObject *entries = IS(CHUNK, chunk) ? GET(CHUNK, chunk, entries) : NULL;
        long long from;
        if (entries == NULL || !PyList_CheckExact(entries) || !whole(GET(CHUNK, chunk, taken), &from) || from < 0)
            return NULL;
        for (*taken = from; *taken < PyList_GET_SIZE(entries); ++*taken) {
            PyObject *entry = PyList_GET_ITEM(entries, *taken);
            if (!PyUnicode_CheckExact(entry))
                return NULL;
            if (PyUnicode_GET_LENGTH(entry))
                break;
        }
        if (*taken != from && !SET(CHUNK, chunk, taken, PyLong_FromLongLong(*taken)))
            return NULL;
        if (*taken < PyList_GET_SIZE(entries))
            return chunk;
    }
    return NULL;
}

/* The level of a host that has one only, and whose manners are as they are for most; NULL: unusual. */
static PyObject *only_level(PyObject *host, PyObject **manners)
{
    PyObject *levels = GET(HOST, host, levels), *key, *level;
    Py_ssize_t at = 0;
    *manners = GET(HOST, host, manners);
    if (!IS(MANNERS, *manners) || levels == NULL || !PyDict_CheckExact(levels) || PyDict_GET_SIZE(levels) != 1
        || !PyDict_Next(levels, &at, &key, &level) || !IS(LEVEL, level))
        return NULL;
    long long priority, own;
    PyObject *returned = GET(LEVEL, level, returned);
    if (returned == NULL || !PyTuple_CheckExact(returned) || PyTuple_GET_SIZE(returned)
        || !whole(GET(LEVEL, level, priority), &priority) || priority == aside
        || !whole(GET(MANNERS, *manners, priority), &own) || own >= 0)
        return NULL;
    return level;
}

static int delay_of(PyObject *host, PyObject *manners, double *delay, double *added)
{
    double crawl_delay, most;
    if (!real(GET(MANNERS, manners, delay), delay) || !real(GET(MANNERS, manners, max_crawl_delay), &most)
        || !real(GET(HOST, host, crawl_delay), &crawl_delay) || !real(GET(HOST, host, added_delay), added))
        return 0;
    crawl_delay = crawl_delay < most ? crawl_delay : most;
    if (crawl_delay > *delay)
        *delay = crawl_delay;
    return 1;
}

/* -- turns ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *schedule, *hosts, *changes, *counts, *touch, *offer;
} Turns;

/* Groups of a host and their pauses: tuples of Group and of float, equally long. */
static int has_groups(PyObject *host)
{
    PyObject *groups = GET(HOST, host, groups), *pauses = GET(HOST, host, pauses);
    if (groups == NULL || pauses == NULL || !PyTuple_CheckExact(groups) || !PyTuple_CheckExact(pauses)
        || PyTuple_GET_SIZE(groups) != PyTuple_GET_SIZE(pauses))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(groups); i++) {
        PyObject *group = PyTuple_GET_ITEM(groups, i);
        if (!IS(GROUP, group) || !PyFloat_CheckExact(PyTuple_GET_ITEM(pauses, i)) || !PyFloat_CheckExact(GET(GROUP, group, due))
            || !PyDict_CheckExact(GET(GROUP, group, held)))
            return 0;
    }
    return 1;
}

/* The group of a host that has no room for a visit now, borrowed; NULL: all have. As `Schedule._full`. */
static PyObject *full_group(PyObject *host, double now, long long burst)
{
    PyObject *groups = GET(HOST, host, groups), *pauses = GET(HOST, host, pauses);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(groups); i++) {
        long long in_hand = 0, most = 0;
        PyObject *group = PyTuple_GET_ITEM(groups, i);
        if (whole(GET(GROUP, group, in_hand), &in_hand) && whole(GET(GROUP, group, most), &most) && in_hand >= most)
            return group;
        PyObject *next = GET(GROUP, group, next);
        if (PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(pauses, i)) != 0 && !burst
            && (PyFloat_AS_DOUBLE(GET(GROUP, group, due)) > now || (next != Py_None && next != host)))
            return group;
    }
    return NULL;
}

/* Whether a group of the host holds others, or has let this host go. */
static int is_waited_for(PyObject *host)
{
    PyObject *groups = GET(HOST, host, groups);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(groups); i++) {
        PyObject *group = PyTuple_GET_ITEM(groups, i);
        if (PyDict_GET_SIZE(GET(GROUP, group, held)) || GET(GROUP, group, next) == host)
            return 1;
    }
    return 0;
}

/* One more visit of the host is in hand. As `Schedule.begin`, which sees to those that are held. */
static int count_begun(Turns *self, PyObject *host, double now, PyObject *moment)
{
    PyObject *groups = GET(HOST, host, groups), *pauses = GET(HOST, host, pauses);
    if (is_waited_for(host)) {
        PyObject *all[3] = {self->schedule, host, moment};
        PyObject *done = PyObject_VectorcallMethod(begin_name, all, 3, NULL);
        Py_XDECREF(done);
        return done != NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(groups); i++) {
        PyObject *group = PyTuple_GET_ITEM(groups, i);
        double pause = PyFloat_AS_DOUBLE(PyTuple_GET_ITEM(pauses, i)), due = PyFloat_AS_DOUBLE(GET(GROUP, group, due));
        if (!ADD(GROUP, group, in_hand, 1)
            || (pause != 0 && !SET(GROUP, group, due, PyFloat_FromDouble((due > now ? due : now) + pause))))
            return 0;
    }
    return ADD(SCHEDULE, self->schedule, leased, 1);
}

/* One visit of the host is in hand no longer. */
static int count_ended(Turns *self, PyObject *host)
{
    PyObject *groups = GET(HOST, host, groups);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(groups); i++)
        if (!ADD(GROUP, PyTuple_GET_ITEM(groups, i), in_hand, -1))
            return 0;
    return ADD(SCHEDULE, self->schedule, leased, -1);
}

/* This host waits for its time. */
static int wait_for_due(Turns *self, PyObject *host)
{
    PyObject *due = GET(HOST, host, due), *then = GET(SCHEDULE, self->schedule, _due_then);
    PyObject *others = PyDict_GetItemWithError(then, due);
    if (others != NULL) {
        if (PyList_Append(others, host) < 0)
            return 0;
    } else {
        PyObject *pushed, *both[2] = {GET(SCHEDULE, self->schedule, _waiting), due};
        if (PyErr_Occurred() || (others = PyList_New(1)) == NULL)
            return 0;
        PyList_SET_ITEM(others, 0, Py_NewRef(host));
        int kept = PyDict_SetItem(then, due, others);
        Py_DECREF(others);
        if (kept < 0 || (pushed = PyObject_Vectorcall(heap_push, both, 2, NULL)) == NULL)
            return 0;
        Py_DECREF(pushed);
    }
    return SET(HOST, host, place, Py_NewRef(is_waiting)) && ADD(SCHEDULE, self->schedule, waiting, 1);
}

/* This host is ready, under the number of what comes next. */
static int be_ready(Turns *self, PyObject *host, PyObject *priority, long long number)
{
    PyObject *schedule = self->schedule, *domain = GET(HOST, host, domain);
    PyObject *heaps = GET(SCHEDULE, schedule, _ready), *ready_of = GET(SCHEDULE, schedule, _ready_of);
    PyObject *heap = PyDict_GetItemWithError(heaps, priority), *before, *after, *place, *pushed;
    long long others = 0, turn;
    if (heap != NULL)
        Py_INCREF(heap);
    else if (PyErr_Occurred() || (heap = PyList_New(0)) == NULL || PyDict_SetItem(heaps, priority, heap) < 0) {
        Py_XDECREF(heap);
        return 0;
    }
    int good = 0;
    place = NULL;
    if ((before = PyDict_GetItemWithError(ready_of, domain)) == NULL ? PyErr_Occurred() != NULL : !whole(before, &others))
        goto done;
    if ((after = PyLong_FromLongLong(others + 1)) == NULL)
        goto done;
    int kept = PyDict_SetItem(ready_of, domain, after);
    Py_DECREF(after);
    if (kept < 0 || !whole(GET(SCHEDULE, schedule, _turn), &turn))
        goto done;
    turn = (turn + 1) & TURNS;
    if (!SET(SCHEDULE, schedule, _turn, PyLong_FromLongLong(turn))
        || (place = PyLong_FromLongLong(((number + others * SPREAD) << TURN_BITS) + turn)) == NULL
        || PyDict_SetItem(GET(SCHEDULE, schedule, _ready_hosts), place, host) < 0)
        goto done;
    PyObject *both[2] = {heap, place};
    if ((pushed = PyObject_Vectorcall(heap_push, both, 2, NULL)) == NULL)
        goto done;
    Py_DECREF(pushed);
    good = SET(HOST, host, spot, Py_NewRef(place)) && SET(HOST, host, place, Py_NewRef(is_ready))
           && ADD(SCHEDULE, schedule, ready, 1);
done:
    if (!good && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "the schedule counts with numbers");
    Py_DECREF(heap);
    Py_XDECREF(place);
    return good;
}

/* Tell the schedule of a host, if it is in no place and may be visited once more; as `Settling.offer`. */
static int offered(Turns *self, PyObject *host, double now, PyObject *moment)
{
    if (GET(HOST, host, place) != idle)
        return 1;
    PyObject *manners, *level = only_level(host, &manners), *leased = GET(HOST, host, leased);
    PyObject *mirror_of = GET(HOST, host, mirror_of), *more = level == NULL ? NULL : GET(LEVEL, level, more);
    long long connections, failures, taken, first;
    double due;
    if (level == NULL || leased == NULL || !PyDict_CheckExact(leased) || GET(HOST, host, closed) != Py_False
        || mirror_of == NULL || !PyUnicode_CheckExact(mirror_of) || PyUnicode_GET_LENGTH(mirror_of)
        || GET(MANNERS, manners, blocked) != Py_False || !whole(GET(HOST, host, failures), &failures) || failures
        || !whole(GET(MANNERS, manners, connections), &connections) || !real(GET(HOST, host, due), &due))
        goto unusual;
    if (PyDict_GET_SIZE(leased)) {
        if (PyDict_GET_SIZE(leased) >= connections)
            return 1;
        int asked = PyDict_Contains(leased, robots_number);
        if (asked)
            return asked > 0;
    }
    PyObject *chunk = next_chunk(level, &taken);
    if (chunk == NULL) {
        if (PyErr_Occurred())
            return 0;
        goto unusual; /* nothing is in memory: there may be more on disk */
    }
    if (due > now)
        return wait_for_due(self, host);
    if (more == NULL || !whole(GET(CHUNK, chunk, first), &first) || first < 0 || first > MOST_NUMBER)
        goto unusual;
    return be_ready(self, host, GET(LEVEL, level, priority), first + taken);
unusual:;
    PyObject *both[2] = {host, moment}, *done = PyObject_Vectorcall(self->offer, both, 2, NULL);
    Py_XDECREF(done);
    return done != NULL;
}

/* -- lease ---------------------------------------------------------------------------------------------------------- */

/* The host whose turn it is, taken out of the schedule, a new reference; NULL: none is ready, or there is an error. A
 * host that no longer is where the heap says, or whose group has enough in hand, is passed by. As `Schedule.take`.
 */
static PyObject *taken_host(Turns *self, PyObject *moment, double now)
{
    PyObject *schedule = self->schedule, *waiting = GET(SCHEDULE, schedule, _waiting), *key, *heap;
    double first;
    if (PyList_GET_SIZE(waiting) && real(PyList_GET_ITEM(waiting, 0), &first) && first <= now) {
        PyObject *woken = PyObject_CallMethodOneArg(schedule, wake_name, moment);
        if (woken == NULL)
            return NULL;
        Py_DECREF(woken);
    }
    PyObject *heaps = GET(SCHEDULE, schedule, _ready), *hosts = GET(SCHEDULE, schedule, _ready_hosts);
    for (;;) {
        Py_ssize_t at = 0;
        long long ready;
        if (!whole(GET(SCHEDULE, schedule, ready), &ready) || ready <= 0 || PyDict_GET_SIZE(heaps) != 1
            || !PyDict_Next(heaps, &at, &key, &heap))
            return NULL; /* none, or several priorities: `Schedule.take` knows whose turn it is */
        PyObject *place = PyObject_CallOneArg(heap_pop, heap);
        if (place == NULL)
            return NULL;
        PyObject *host = Py_XNewRef(PyDict_GetItemWithError(hosts, place));
        int gone = host == NULL || PyDict_DelItem(hosts, place) < 0;
        if (!gone && !PyList_GET_SIZE(heap))
            gone = PyDict_DelItem(heaps, key) < 0;
        int stale = gone || !IS(HOST, host) || GET(HOST, host, place) != is_ready
                    || PyObject_RichCompareBool(GET(HOST, host, spot), place, Py_EQ) != 1;
        Py_DECREF(place);
        if (gone || PyErr_Occurred()) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_KeyError, "a host that is ready is not there");
            Py_XDECREF(host);
            return NULL;
        }
        if (stale) {
            Py_DECREF(host);
            continue;
        }
        PyObject *ready_of = GET(SCHEDULE, schedule, _ready_of), *domain = GET(HOST, host, domain);
        PyObject *others = PyDict_GetItemWithError(ready_of, domain);
        long long count;
        int good = others != NULL && whole(others, &count);
        if (good && count > 1) {
            PyObject *less = PyLong_FromLongLong(count - 1);
            good = less != NULL && PyDict_SetItem(ready_of, domain, less) == 0;
            Py_XDECREF(less);
        } else if (good) {
            good = PyDict_DelItem(ready_of, domain) == 0;
        }
        long long burst;
        if (!good || !ADD(SCHEDULE, schedule, ready, -1) || !has_groups(host) || !whole(GET(HOST, host, burst), &burst)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "the schedule counts with numbers");
            Py_DECREF(host);
            return NULL;
        }
        PyObject *full = full_group(host, now, burst);
        if (full == NULL) {
            SET(HOST, host, place, Py_NewRef(idle));
            return host;
        }
        PyObject *all[4] = {schedule, host, full, moment};
        PyObject *held = PyObject_VectorcallMethod(hold_name, all, 4, NULL);
        Py_XDECREF(held);
        Py_DECREF(host);
        if (held == NULL)
            return NULL;
    }
}

static PyObject *url_of(PyObject *scheme, PyObject *name, PyObject *path)
{
    PyObject *parts[3] = {PyDict_GetItemWithError(scheme_starts, scheme), name, path}, *url;
    Py_UCS4 widest = 127;
    Py_ssize_t length = 0, at = 0;
    for (int i = 0; i < 3; i++) {
        if (parts[i] == NULL || !PyUnicode_CheckExact(parts[i]))
            return NULL;
        Py_UCS4 most = PyUnicode_MAX_CHAR_VALUE(parts[i]);
        widest = most > widest ? most : widest;
        length += PyUnicode_GET_LENGTH(parts[i]);
    }
    if ((url = PyUnicode_New(length, widest)) == NULL)
        return NULL;
    for (int i = 0; i < 3; i++) {
        Py_ssize_t copied = PyUnicode_CopyCharacters(url, at, parts[i], 0, PyUnicode_GET_LENGTH(parts[i]));
        if (copied < 0) {
            Py_DECREF(url);
            return NULL;
        }
        at += copied;
    }
    return url;
}

/* Whether its robots rules are known and allow the path. */
static int is_allowed(PyObject *host, PyObject *scheme, PyObject *path, double now)
{
    PyObject *robots = GET(HOST, host, robots);
    PyObject *rules = robots == NULL || !PyDict_CheckExact(robots) ? NULL : PyDict_GetItemWithError(robots, scheme);
    double expires;
    if (rules == NULL || !PyTuple_CheckExact(rules) || PyTuple_GET_SIZE(rules) != 2
        || !real(PyTuple_GET_ITEM(rules, 1), &expires) || expires <= now)
        return 0;
    PyObject *allowed = PyObject_CallMethodOneArg(PyTuple_GET_ITEM(rules, 0), allows_name, path);
    int yes = allowed == Py_True;
    Py_XDECREF(allowed);
    return yes;
}

/* Whether nothing is known against what the host has. */
static int is_good(PyObject *host, PyObject *manners)
{
    PyObject *yields = GET(HOST, host, yields), *paths = GET(MANNERS, manners, blocked_paths), *barren;
    long long pages, most;
    if (paths == NULL || !PyTuple_CheckExact(paths) || PyTuple_GET_SIZE(paths)
        || !whole(GET(MANNERS, manners, max_pages), &most) || most)
        return 0;
    if (GET(MANNERS, manners, skips) == Py_False)
        return 1;
    if (yields == Py_None)
        return whole(GET(HOST, host, pages), &pages) && pages > 0;
    barren = IS(YIELDS, yields) ? GET(YIELDS, yields, barren) : NULL;
    return barren != NULL && PyDict_CheckExact(barren) && !PyDict_GET_SIZE(barren);
}

/* The next visit of a host, in hand now; NULL without an error: something is unusual, and nothing was done. */
static PyObject *begun(Turns *self, PyObject *host, double now, PyObject *moment)
{
    PyObject *manners, *level = only_level(host, &manners), *leased = GET(HOST, host, leased), *visit = NULL;
    PyObject *name = GET(HOST, host, name);
    long long taken, first, burst, most, surplus;
    double delay, added;
    if (level == NULL || leased == NULL || !PyDict_CheckExact(leased) || !is_good(host, manners)
        || !delay_of(host, manners, &delay, &added) || !whole(GET(HOST, host, burst), &burst)
        || !whole(GET(MANNERS, manners, burst), &most) || !whole(GET(COUNTS, self->counts, surplus), &surplus) || surplus)
        return NULL;
    PyObject *chunk = next_chunk(level, &taken);
    if (chunk == NULL || !whole(GET(CHUNK, chunk, first), &first))
        return NULL;
    PyObject *packed = PyList_GET_ITEM(GET(CHUNK, chunk, entries), taken);
    if (PyUnicode_GET_LENGTH(packed) < MARKED || PyUnicode_READ_CHAR(packed, 2) != DEPTH_0)
        return NULL; /* hops or marks */
    PyObject *priority = GET(LEVEL, level, priority), *due = NULL, *entry = NULL, *url = NULL;
    PyObject *number = PyLong_FromLongLong(first + taken), *next = PyLong_FromLongLong(taken + 1);
    PyObject *depth = PyLong_FromLong((long)PyUnicode_READ_CHAR(packed, 0) - DEPTH_0);
    PyObject *tries = PyLong_FromLong((long)PyUnicode_READ_CHAR(packed, 1) - DEPTH_0);
    PyObject *scheme = PyUnicode_Substring(packed, 3, MARKED);
    PyObject *path = PyUnicode_Substring(packed, MARKED, PyUnicode_GET_LENGTH(packed));
    if (number == NULL || next == NULL || depth == NULL || tries == NULL || scheme == NULL || path == NULL
        || !is_allowed(host, scheme, path, now) || (url = url_of(scheme, name, path)) == NULL
        || (due = PyFloat_FromDouble(burst + 1 < most ? now : now + (delay + added))) == NULL)
        goto done;
    PyObject *of_entry[8] = {priority, number, depth, tries, zero, scheme, path, chunk};
    PyObject *of_visit[6] = {url, name, depth, priority, number, tries};
    if ((entry = PyObject_Vectorcall((PyObject *)ENTRY.type, of_entry, 8, NULL)) == NULL
        || (visit = PyObject_Vectorcall((PyObject *)VISIT.type, of_visit, 6, NULL)) == NULL)
        goto done;
    if (PyDict_SetItem(leased, number, entry) < 0 || !SET(CHUNK, chunk, taken, Py_NewRef(next))
        || !SET(HOST, host, due, Py_NewRef(due)) || !count_begun(self, host, now, moment))
        Py_CLEAR(visit);
done:
    Py_XDECREF(number);
    Py_XDECREF(next);
    Py_XDECREF(depth);
    Py_XDECREF(tries);
    Py_XDECREF(scheme);
    Py_XDECREF(path);
    Py_XDECREF(url);
    Py_XDECREF(due);
    Py_XDECREF(entry);
    return visit;
}

PyDoc_STRVAR(lease_doc,
"lease(now, most, visits)\n--\n\n"
"Add to `visits` those that come next, up to `most` altogether, as long as nothing is unusual. Gives the first host of\n"
"which something is, taken out of the schedule; None: no more are ready at one priority, or there are enough.");

static PyObject *turns_lease(Turns *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyFloat_CheckExact(args[0]) || !PyLong_CheckExact(args[1]) || !PyList_CheckExact(args[2])) {
        PyErr_SetString(PyExc_TypeError, "lease(now: float, most: int, visits: list)");
        return NULL;
    }
    double now = PyFloat_AS_DOUBLE(args[0]);
    Py_ssize_t most = PyLong_AsSsize_t(args[1]);
    if (most == -1 && PyErr_Occurred())
        return NULL;
    while (PyList_GET_SIZE(args[2]) < most) {
        PyObject *host = taken_host(self, args[0], now);
        if (host == NULL) {
            if (PyErr_Occurred())
                return NULL;
            break;
        }
        PyObject *visit = begun(self, host, now, args[0]);
        if (visit == NULL) {
            if (!PyErr_Occurred())
                return host;
            Py_DECREF(host);
            return NULL;
        }
        int good = PyList_Append(args[2], visit) == 0 && offered(self, host, now, args[0]);
        Py_DECREF(visit);
        Py_DECREF(host);
        if (!good)
            return NULL;
    }
    Py_RETURN_NONE;
}

/* -- settle --------------------------------------------------------------------------------------------------------- */

static PyObject *key_of(PyObject *visits, PyObject *scheme, PyObject *path)
{
    Py_ssize_t first, second;
    const char *code = PyUnicode_AsUTF8AndSize(scheme, &first), *rest = PyUnicode_AsUTF8AndSize(path, &second);
    if (code == NULL || rest == NULL)
        return NULL;
    Py_ssize_t start = PyBytes_GET_SIZE(visits);
    PyObject *key = PyBytes_FromStringAndSize(NULL, start + first + second);
    if (key != NULL) {
        char *at = PyBytes_AS_STRING(key);
        memcpy(at, PyBytes_AS_STRING(visits), (size_t)start);
        memcpy(at + start, code, (size_t)first);
        memcpy(at + start + first, rest, (size_t)second);
    }
    return key;
}

/* As `Level.settle`: the entry is empty, and its chunk goes with the last one. */
static int unqueue(PyObject *level, PyObject *chunk, Py_ssize_t place, long long left)
{
    PyObject *chunks = GET(LEVEL, level, chunks), *finished = GET(LEVEL, level, finished);
    if (PyList_SetItem(GET(CHUNK, chunk, entries), place, Py_NewRef(empty_text)) < 0
        || !SET(CHUNK, chunk, left, PyLong_FromLongLong(left - 1)))
        return 0;
    if (left > 1)
        return 1;
    PyObject *removed = PyObject_CallMethodOneArg(chunks, remove_name, chunk);
    if (removed == NULL)
        return 0;
    Py_DECREF(removed);
    if (GET(CHUNK, chunk, stored) != Py_True)
        return 1;
    PyObject *more = PyTuple_Pack(1, GET(CHUNK, chunk, first));
    PyObject *all = more == NULL ? NULL : PySequence_Concat(finished, more);
    Py_XDECREF(more);
    return SET(LEVEL, level, finished, all);
}

/* A host that was held for this one may come. */
static int passed_on(PyObject *schedule, PyObject *host, PyObject *moment)
{
    PyObject *all[3] = {schedule, host, moment};
    PyObject *done = PyObject_VectorcallMethod(pass_on_name, all, 3, NULL);
    Py_XDECREF(done);
    return done != NULL;
}

PyDoc_STRVAR(settle_doc,
"settle(visit, status, now, seconds, stored, address, digest, validators)\n--\n\n"
"The visit brought a page. False: something is unusual, and nothing was done.");

static PyObject *turns_settle(Turns *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 8 || !IS(VISIT, args[0]) || !PyLong_CheckExact(args[1]) || !PyFloat_CheckExact(args[2])
        || !(args[4] == Py_None || PyTuple_CheckExact(args[4])) || !PyUnicode_CheckExact(args[5])
        || !PyBytes_CheckExact(args[6]) || GET(VISIT, args[0], before) != Py_None)
        Py_RETURN_FALSE;
    PyObject *schedule = self->schedule, *visit = args[0], *number = GET(VISIT, visit, number);
    PyObject *host = PyDict_GetItemWithError(self->hosts, GET(VISIT, visit, host));
    double now = PyFloat_AS_DOUBLE(args[2]), seconds, delay, added, factor;
    long long held, tries, hops, first, at, left, burst, most, priority, taken;
    if (!IS(HOST, host) || !real(args[3], &seconds) || !whole(GET(SCHEDULE, schedule, held), &held))
        goto unusual;
    PyObject *address = GET(HOST, host, address), *leased = GET(HOST, host, leased);
    PyObject *manners, *level = only_level(host, &manners), *visits = GET(HOST, host, visits);
    PyObject *entry = level == NULL || !PyDict_CheckExact(leased) ? NULL : PyDict_GetItemWithError(leased, number);
    PyObject *chunk = IS(ENTRY, entry) ? GET(ENTRY, entry, chunk) : NULL;
    int hurried = PySet_Contains(busy, args[1]);
    if (!IS(CHUNK, chunk) || hurried || !has_groups(host) || !PyBytes_CheckExact(visits) || address == NULL
        || (PyUnicode_GET_LENGTH(args[5]) && PyUnicode_Compare(args[5], address)) || !PyLong_CheckExact(number)
        || !delay_of(host, manners, &delay, &added) || added != 0 || !real(GET(MANNERS, manners, delay_factor), &factor)
        || !whole(GET(HOST, host, burst), &burst) || !whole(GET(MANNERS, manners, burst), &most)
        || !whole(GET(VISIT, visit, tries), &tries) || !whole(GET(ENTRY, entry, hops), &hops) || hops
        || !whole(GET(ENTRY, entry, priority), &priority) || !whole(GET(CHUNK, chunk, left), &left)
        || PyObject_RichCompareBool(GET(ENTRY, entry, priority), GET(LEVEL, level, priority), Py_EQ) != 1
        || !whole(GET(CHUNK, chunk, first), &first) || !whole(number, &at) || at < first
        || at - first >= PyList_GET_SIZE(GET(CHUNK, chunk, entries)))
        goto unusual;

    PyObject *value = NULL, *key = NULL, *due = NULL, *once_more = PyLong_FromLongLong(tries + 1);
    int good = 0;
    if (once_more == NULL)
        return NULL;
    PyObject *of_page[10] = {fetched, GET(VISIT, visit, depth), args[1], args[2], once_more,
                             args[4], args[6], zero, args[7], empty_bytes};
    Py_INCREF(host);
    Py_INCREF(entry); /* `leased` has it no longer, soon */
    Py_INCREF(chunk);
    if ((key = key_of(visits, GET(ENTRY, entry, scheme), GET(ENTRY, entry, path))) == NULL
        || (value = PyObject_Vectorcall(pack_page, of_page, 10, NULL)) == NULL
        || PyDict_DelItem(leased, number) < 0 || PyDict_SetItem(self->changes, key, value) < 0
        || !unqueue(level, chunk, (Py_ssize_t)(at - first), left) || !ADD(COUNTS, self->counts, queued, -1)
        || !ADD(COUNTS, self->counts, fetched, 1) || !ADD(HOST, host, pages, 1)
        || !SET(HOST, host, failures, Py_NewRef(zero)))
        goto done;
    if (GET(HOST, host, dirty) != Py_True) {
        PyObject *touched = PyObject_CallOneArg(self->touch, host);
        if (touched == NULL)
            goto done;
        Py_DECREF(touched);
    }
    /* As `HostQueue.rest`. */
    burst++;
    int goes_on = burst < most && (GET(LEVEL, level, more) == Py_True || next_chunk(level, &taken) != NULL);
    if (PyErr_Occurred())
        goto done;
    double pause = delay > 0 ? (delay > factor * seconds ? delay : factor * seconds) : 0;
    due = PyFloat_FromDouble(goes_on ? now : now + pause * (double)burst);
    good = due != NULL && SET(HOST, host, due, Py_NewRef(due)) && SET(HOST, host, burst, PyLong_FromLongLong(goes_on ? burst : 0))
           && count_ended(self, host) && (!held || !is_waited_for(host) || passed_on(schedule, host, args[2])) && offered(self, host, now, args[2]);
done:
    Py_DECREF(once_more);
    Py_DECREF(host);
    Py_DECREF(entry);
    Py_DECREF(chunk);
    Py_XDECREF(key);
    Py_XDECREF(value);
    Py_XDECREF(due);
    if (good)
        Py_RETURN_TRUE;
    return NULL;
unusual:
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_FALSE;
}

/* -- the type and the module ---------------------------------------------------------------------------------------- */

static int turns_traverse(Turns *self, visitproc visit, void *arg)
{
    Py_VISIT(self->schedule);
    Py_VISIT(self->hosts);
    Py_VISIT(self->changes);
    Py_VISIT(self->counts);
    Py_VISIT(self->touch);
    Py_VISIT(self->offer);
    return 0;
}

static int turns_clear(Turns *self)
{
    Py_CLEAR(self->schedule);
    Py_CLEAR(self->hosts);
    Py_CLEAR(self->changes);
    Py_CLEAR(self->counts);
    Py_CLEAR(self->touch);
    Py_CLEAR(self->offer);
    return 0;
}

static void turns_dealloc(Turns *self)
{
    PyObject_GC_UnTrack(self);
    turns_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *turns_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *schedule, *hosts, *changes, *counts, *touch, *offer;
    if (!PyArg_ParseTuple(args, "OO!O!OOO", &schedule, &PyDict_Type, &hosts, &PyDict_Type, &changes, &counts, &touch, &offer))
        return NULL;
    if (!IS(SCHEDULE, schedule) || !IS(COUNTS, counts)) {
        PyErr_SetString(PyExc_TypeError, "Turns(schedule: Schedule, hosts, changes, counts: Counts, touch, offer)");
        return NULL;
    }
    Turns *self = (Turns *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->schedule = Py_NewRef(schedule);
        self->hosts = Py_NewRef(hosts);
        self->changes = Py_NewRef(changes);
        self->counts = Py_NewRef(counts);
        self->touch = Py_NewRef(touch);
        self->offer = Py_NewRef(offer);
    }
    return (PyObject *)self;
}

static PyMethodDef turns_methods[] = {
    {"lease", (PyCFunction)(void (*)(void))turns_lease, METH_FASTCALL, lease_doc},
    {"settle", (PyCFunction)(void (*)(void))turns_settle, METH_FASTCALL, settle_doc},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject turns_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gossamer.frontier._turns.Turns",
    .tp_doc = "Turns(schedule, hosts, changes, counts, touch, offer)\n--\n\nUsual visits of one frontier.",
    .tp_basicsize = sizeof(Turns),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = turns_new,
    .tp_dealloc = (destructor)turns_dealloc,
    .tp_traverse = (traverseproc)turns_traverse,
    .tp_clear = (inquiry)turns_clear,
    .tp_methods = turns_methods,
};

/* Where the slots of a class are. */
static int find_slots(PyObject *classes, const char *name, PyTypeObject **type, const char *const *slots, Py_ssize_t *at)
{
    PyObject *class = PyDict_GetItemString(classes, name);
    if (class == NULL || !PyType_Check(class)) {
        PyErr_Format(PyExc_TypeError, "the class %s is not given", name);
        return 0;
    }
    for (; *slots != NULL; slots++, at++)
        if (!find_slot((PyTypeObject *)class, *slots, at))
            return 0;
    Py_XSETREF(*type, (PyTypeObject *)Py_NewRef(class));
    return 1;
}

static int find_thing(PyObject *things, const char *name, PyObject **thing)
{
    PyObject *found = PyDict_GetItemString(things, name);
    if (found == NULL) {
        PyErr_Format(PyExc_TypeError, "%s is not given", name);
        return 0;
    }
    Py_XSETREF(*thing, Py_NewRef(found));
    return 1;
}

PyDoc_STRVAR(bind_doc,
"bind(classes, things)\n--\n\n"
"Say by name which classes and which other things are meant; once, before anything else is called.");

#define FIND_SLOTS(kind, class) \
    if (!find_slots(args[0], #class, &kind.type, kind##_names, (Py_ssize_t *)&kind.at)) \
        return NULL;

static PyObject *bind(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    static PyObject *last; /* the priority of what is put aside */
    if (count != 2 || !PyDict_Check(args[0]) || !PyDict_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "bind(classes: dict, things: dict)");
        return NULL;
    }
    CLASSES(FIND_SLOTS)
    struct { const char *name; PyObject **thing; } things[] = {
        {"idle", &idle}, {"ready", &is_ready}, {"waiting", &is_waiting}, {"fetched", &fetched},
        {"busy", &busy}, {"pack_page", &pack_page}, {"heappush", &heap_push}, {"heappop", &heap_pop},
        {"scheme_starts", &scheme_starts}, {"robots", &robots_number}, {"aside", &last},
    };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (!find_thing(args[1], things[i].name, things[i].thing))
            return NULL;
    if (!PyDict_Check(scheme_starts) || !PyAnySet_Check(busy)) {
        PyErr_SetString(PyExc_TypeError, "scheme_starts is a dict, busy a set");
        return NULL;
    }
    aside = PyLong_AsLong(last);
    if (aside == -1 && PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"bind", (PyCFunction)(void (*)(void))bind, METH_FASTCALL, bind_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_turns", "Usual visits, compiled.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__turns(void)
{
    struct { const char *word; PyObject **name; } names[] = {
        {"", &empty_text}, {"allows", &allows_name}, {"_wake", &wake_name}, {"remove", &remove_name},
        {"pass_on", &pass_on_name}, {"hold", &hold_name}, {"begin", &begin_name},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i].name == NULL && (*names[i].name = PyUnicode_InternFromString(names[i].word)) == NULL)
            return NULL;
    if ((zero == NULL && (zero = PyLong_FromLong(0)) == NULL)
        || (empty_bytes == NULL && (empty_bytes = PyBytes_FromStringAndSize(NULL, 0)) == NULL))
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddType(module, &turns_type) < 0)
        Py_CLEAR(module);
    return module;
}
