#define _GNU_SOURCE
#include "trace/script.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Python's, as far as it is needed; objects are opaque. */
static struct {
    bool is_sought;
    int (*is_initialized)(void);
    int (*ensure)(void);
    void (*release)(int);
    void *(*frame)(void);
    int (*line)(void *);
    void *(*code)(void *);
    void *(*attribute)(void *, const char *);
    const char *(*text)(void *);
    void (*drop)(void *);
    void (*clear_error)(void);
} python;

static bool has_python(void)
{
    if (!python.is_sought) {
        *(void **)&python.ensure = dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
        *(void **)&python.release = dlsym(RTLD_DEFAULT, "PyGILState_Release");
        *(void **)&python.frame = dlsym(RTLD_DEFAULT, "PyEval_GetFrame");
        *(void **)&python.line = dlsym(RTLD_DEFAULT, "PyFrame_GetLineNumber");
        *(void **)&python.code = dlsym(RTLD_DEFAULT, "PyFrame_GetCode");
        *(void **)&python.attribute = dlsym(RTLD_DEFAULT, "PyObject_GetAttrString");
        *(void **)&python.text = dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
        *(void **)&python.drop = dlsym(RTLD_DEFAULT, "Py_DecRef");
        *(void **)&python.clear_error = dlsym(RTLD_DEFAULT, "PyErr_Clear");
        *(void **)&python.is_initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
        python.is_sought = true;
    }
    return python.ensure && python.release && python.frame && python.line && python.code &&
           python.attribute && python.text && python.drop && python.clear_error && python.is_initialized;
}

/* Whether an address is in mpi4py's code. The last answer is the next one most of the time. */
static bool is_of_mpi4py(const void *address)
{
    static _Thread_local const void *last __attribute__((tls_model("initial-exec")));
    static _Thread_local bool was __attribute__((tls_model("initial-exec")));
    if (address == last)
        return was;
    Dl_info found;
    last = address;
    was = dladdr(address, &found) && found.dli_fname && strstr(found.dli_fname, "/mpi4py/");
    return was;
}

static void copy_text(void *code, const char *name, char *to, size_t room)
{
    void *object = python.attribute(code, name);
    const char *text = object ? python.text(object) : NULL;
    snprintf(to, room, "%s", text ? text : "");
    if (object)
        python.drop(object);
}

bool ek_script_find(const void *site, ek_script_place *place)
{
    /* While Python ends, it has no frame any more. */
    if (!is_of_mpi4py(site) || !has_python() || !python.is_initialized())
        return false;
    /* mpi4py calls MPI without Python's lock. */
    int state = python.ensure();
    void *frame = python.frame(), *code = frame ? python.code(frame) : NULL;
    if (code) {
        place->line = (uint32_t)python.line(frame);
        copy_text(code, "co_filename", place->file, sizeof place->file);
        copy_text(code, "co_name", place->function, sizeof place->function);
        python.drop(code);
        python.clear_error();
    }
    python.release(state);
    return code && place->file[0];
}
