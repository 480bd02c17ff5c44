#define _GNU_SOURCE
#include "host/reference.h"
#include "host/library.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { CALLED = R_X86_64_JUMP_SLOT, TAKEN = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { CALLED = R_AARCH64_JUMP_SLOT, TAKEN = R_AARCH64_GLOB_DAT };
#endif

#if defined(__x86_64__) || defined(__aarch64__)

/* What the loader knows of an object's references. */
typedef struct references {
    const ElfW(Rela) * called, *others;
    size_t called_bytes, others_bytes;
    const ElfW(Sym) * symbols;
    const char *strings;
} references;

/* The loader has relocated the addresses of the dynamic section in most objects. */
static const void *relocated(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return (const void *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);
}

static references read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
    references found = {0};
    for (; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_JMPREL: found.called = relocated(info, entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: found.called_bytes = entry->d_un.d_val; break;
        case DT_RELA: found.others = relocated(info, entry->d_un.d_ptr); break;
        case DT_RELASZ: found.others_bytes = entry->d_un.d_val; break;
        case DT_SYMTAB: found.symbols = relocated(info, entry->d_un.d_ptr); break;
        case DT_STRTAB: found.strings = relocated(info, entry->d_un.d_ptr); break;
        default: break;
        }
    return found;
}

typedef struct redirection {
    const char *name;
    const void *host; /* an address within the host */
    void *to, *from;
} redirection;

/* The part of an object that is read-only after relocation, if `address` lies there. */
static bool is_read_only(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        const uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_RELRO && address >= start && address < start + part->p_memsz)
            return true;
    }
    return false;
}

static bool store(const struct dl_phdr_info *info, void **slot, void *value)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)slot & ~(page - 1);
    const bool is_protected = is_read_only(info, (uintptr_t)slot);
    if (is_protected && mprotect((void *)start, page, PROT_READ | PROT_WRITE))
        return false;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_protected)
        mprotect((void *)start, page, PROT_READ);
    return true;
}

/* What a reference stands for. If the loader resolves it when it is used first, it leads back into the
 * object until then. */
static void *meant(const redirection *r, void *const *slot)
{
    Dl_info target, host;
    if (dladdr(*slot, &target) && dladdr(r->host, &host) && target.dli_fbase != host.dli_fbase)
        return *slot;
    void *handle = dladdr(r->host, &host) ? dlopen(host.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = handle ? dlsym(handle, r->name) : NULL;
    if (handle)
        dlclose(handle);
    return found;
}

static void redirect_in(redirection *r, const struct dl_phdr_info *info, const references *all,
                        const ElfW(Rela) * reference, size_t bytes)
{
    for (size_t i = 0; reference && i < bytes / sizeof *reference; i++) {
        const unsigned type = (unsigned)ELF64_R_TYPE(reference[i].r_info);
        const ElfW(Sym) *symbol = &all->symbols[ELF64_R_SYM(reference[i].r_info)];
        if ((type != CALLED && type != TAKEN) || strcmp(all->strings + symbol->st_name, r->name))
            continue;
        void **slot = (void **)(info->dlpi_addr + reference[i].r_offset);
        void *from = r->from ? r->from : meant(r, slot);
        if (from && store(info, slot, r->to))
            r->from = from;
    }
}

static bool contains(const struct dl_phdr_info *info, const void *address)
{
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        const uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (uintptr_t)address >= start &&
            (uintptr_t)address < start + part->p_memsz)
            return true;
    }
    return false;
}

static int redirect(struct dl_phdr_info *info, size_t bytes, void *context)
{
    redirection *r = context;
    (void)bytes;
    if (!contains(info, r->host))
        return 0;
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        if (part->p_type != PT_DYNAMIC)
            continue;
        const references all = read_dynamic(info, (const void *)(info->dlpi_addr + part->p_vaddr));
        if (!all.symbols || !all.strings)
            continue;
        redirect_in(r, info, &all, all.called, all.called_bytes);
        redirect_in(r, info, &all, all.others, all.others_bytes);
    }
    return 1;
}

void *ek_host_redirect(const char *name, void *to)
{
    redirection r = {name, ek_host_function("PMPI_Init"), to, NULL};
    if (r.host)
        dl_iterate_phdr(redirect, &r);
    return r.from;
}

#else
void *ek_host_redirect(const char *name, void *to)
{
    (void)name;
    (void)to;
    return NULL;
}
#endif
