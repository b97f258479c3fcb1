/* SPDX-License-Identifier: Apache-2.0 */
/* Start: a0, the job's address, stays main's argument. There are no variables to initialize: link.ld checks that. */
        .section .start, "ax"
        .globl  _start
_start: la      sp, stack_top
        call    main
        la      t0, machine_exit
        sw      a0, 0(t0)
halt:   wfi
        j       halt

/* The compiler sets structures to zero with this one (the driver itself needs nothing). */
        .text
        .globl  memset
memset: add     a2, a2, a0
        mv      t0, a0
1:      beq     t0, a2, 2f
        sb      a1, 0(t0)
        addi    t0, t0, 1
        j       1b
2:      ret
