/* Where a slot of a Python class lies in its objects, for modules that work on these without asking for each by name.
 * Objects must be of exactly that class.
 */

#ifndef GOSSAMER_SLOTS_H
#define GOSSAMER_SLOTS_H

#include <Python.h>
#include <structmember.h>

/* 0, and an error, when the class has no such slot. */
static int find_slot(PyTypeObject *class, const char *name, Py_ssize_t *at)
{
    PyObject *found = PyObject_GetAttrString((PyObject *)class, name);
    int good = 0;
    if (found != NULL && Py_IS_TYPE(found, &PyMemberDescr_Type) && PyDescr_TYPE(found) == class) {
        PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
        good = member->type == T_OBJECT_EX && !(member->flags & READONLY);
        *at = member->offset;
    }
    Py_XDECREF(found);
    if (!good)
        PyErr_Format(PyExc_ImportError, "%s has no slot %s", class->tp_name, name);
    return good;
}

#endif
