/* SPDX-License-Identifier: Apache-2.0 */
/* Start of a Cortex-M: r0, the job's address, stays main's argument. There are no variables to initialize: link.ld checks
 * that. A board's boot ROM, or its vector table, comes here with the stack wherever it likes. */
        .syntax unified
        .thumb
        .section .start, "ax"
        .globl  _start
        .thumb_func
_start: ldr     r1, =stack_top
        mov     sp, r1
        bl      main
        ldr     r1, =machine_exit
        str     r0, [r1]
halt:   wfi
        b       halt
        .ltorg

/* The compiler sets structures to zero with this one (the driver itself needs nothing). */
        .text
        .globl  memset
        .thumb_func
memset: add     r2, r2, r0
        mov     r3, r0
1:      cmp     r3, r2
        beq     2f
        strb    r1, [r3], #1
        b       1b
2:      bx      lr
