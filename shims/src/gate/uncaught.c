#include "gate/uncaught.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS

__asm__(".pushsection .text\n"
        ".hidden ek_gate_text, ek_gate_text_end, ek_gate_sigreturn, ek_gate_syscall, ek_gate_restorer\n"
        ".globl ek_gate_text, ek_gate_text_end, ek_gate_sigreturn, ek_gate_syscall, ek_gate_restorer\n"
        ".balign 16\n"
        "ek_gate_text:\n"
        ".type ek_gate_syscall, @function\n"
        "ek_gate_syscall:\n"
        "    mov %rdi, %rax\n    mov %rsi, %rdi\n    mov %rdx, %rsi\n    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n    mov %r9, %r8\n    mov 8(%rsp), %r9\n    syscall\n    ret\n"
        ".type ek_gate_restorer, @function\n"
        "ek_gate_restorer:\n"
        "    mov $15, %eax\n"
        "ek_gate_sigreturn:\n"
        "    syscall\n    ud2\n"
        "ek_gate_text_end:\n"
        ".popsection\n");

#endif
