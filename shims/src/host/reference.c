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

/* The places where an object holds the address of a function. Those of a function that it defines itself are
 * apart: a program that refers to a library's function may have its address, too. */
enum { MOST_SLOTS = 4 };
typedef struct slots {
    const char *name;
    const void *inside; /* an address within the object */
    bool is_definer;
    void **slot[MOST_SLOTS];
    bool is_protected[MOST_SLOTS]; /* read-only since the loader has relocated the object */
    int count;
} slots;

/* The loader protects whole pages only. */
static bool is_read_only(const struct dl_phdr_info *info, uintptr_t address)
{
    const uintptr_t page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        const uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_RELRO && address >= (start & page_mask) &&
            address < ((start + part->p_memsz) & page_mask))
            return true;
    }
    return false;
}

static void collect(slots *found, const struct dl_phdr_info *info, const references *all,
                    const ElfW(Rela) * reference, size_t bytes)
{
    for (size_t i = 0; reference && i < bytes / sizeof *reference && found->count < MOST_SLOTS; i++) {
        const unsigned type = (unsigned)ELF64_R_TYPE(reference[i].r_info);
        const ElfW(Sym) *symbol = &all->symbols[ELF64_R_SYM(reference[i].r_info)];
        if ((type != CALLED && type != TAKEN) || strcmp(all->strings + symbol->st_name, found->name))
            continue;
        if (found->is_definer && symbol->st_shndx == SHN_UNDEF)
            continue;
        const uintptr_t slot = info->dlpi_addr + reference[i].r_offset;
        found->is_protected[found->count] = is_read_only(info, slot);
        found->slot[found->count++] = (void **)slot;
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

static int look_into(struct dl_phdr_info *info, size_t bytes, void *context)
{
    slots *found = context;
    (void)bytes;
    if (!contains(info, found->inside))
        return 0;
    for (int p = 0; p < info->dlpi_phnum; p++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[p];
        if (part->p_type != PT_DYNAMIC)
            continue;
        const references all = read_dynamic(info, (const void *)(info->dlpi_addr + part->p_vaddr));
        if (!all.symbols || !all.strings)
            continue;
        collect(found, info, &all, all.called, all.called_bytes);
        collect(found, info, &all, all.others, all.others_bytes);
    }
    return 1;
}

/* What a reference stands for. If the loader resolves it when it is used first, it leads back into the object
 * until then; the loader looks in the program's global scope first, then in what the object needs. */
static void *meant(const slots *all, void *const *slot)
{
    Dl_info target, host;
    if (!dladdr(all->inside, &host))
        return NULL;
    if (dladdr(*slot, &target) && target.dli_fbase != host.dli_fbase)
        return *slot;
    void *found = dlsym(RTLD_DEFAULT, all->name);
    void *handle = found ? NULL : dlopen(host.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        found = dlsym(handle, all->name);
        dlclose(handle);
    }
    return found;
}

static bool store(void **slot, bool is_protected, void *value)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)slot & ~(page - 1);
    if (is_protected && mprotect((void *)start, page, PROT_READ | PROT_WRITE))
        return false;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (is_protected)
        mprotect((void *)start, page, PROT_READ);
    return true;
}

/* Nothing but looking within dl_iterate_phdr: it holds a lock that dlopen of another thread may wait for,
 * with the lock that dlsym needs. */
static slots find_slots(const char *name, const void *inside, bool is_definer)
{
    slots found = {.name = name, .inside = inside, .is_definer = is_definer};
    if (inside)
        dl_iterate_phdr(look_into, &found);
    return found;
}

static bool store_all(const slots *all, void *value)
{
    bool is_stored = false;
    for (int i = 0; i < all->count; i++)
        is_stored |= store(all->slot[i], all->is_protected[i], value);
    return is_stored;
}

bool ek_host_redirect(const char *name, void *to, void **from)
{
    const slots host = find_slots(name, ek_host_function("PMPI_Init"), false);
    *from = host.count > 0 ? meant(&host, host.slot[0]) : NULL;
    if (!*from || !store_all(&host, to))
        return false;
    const slots definer = find_slots(name, *from, true);
    store_all(&definer, to);
    return true;
}

#else
bool ek_host_redirect(const char *name, void *to, void **from)
{
    (void)name;
    (void)to;
    *from = NULL;
    return false;
}
#endif
