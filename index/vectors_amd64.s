#include "textflag.h"

// func dotRowsAVX2(rows *byte, q *int16, sums *int32, n, dims int)
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ rows+0(FP), SI
	MOVQ q+8(FP), DI
	MOVQ sums+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ dims+32(FP), R8
	CMPQ CX, $2
	JLT  one

// Two rows at a time, so that each part of q is loaded once for both.
two:
	LEAQ  (SI)(R8*1), R9
	MOVQ  DI, BX
	MOVQ  R8, AX
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

twoPart:
	VMOVDQU   (BX), Y8
	VMOVDQU   32(BX), Y9
	VPMOVSXBW (SI), Y0
	VPMOVSXBW 16(SI), Y1
	VPMOVSXBW (R9), Y2
	VPMOVSXBW 16(R9), Y3
	VPMADDWD  Y8, Y0, Y0
	VPMADDWD  Y9, Y1, Y1
	VPMADDWD  Y8, Y2, Y2
	VPMADDWD  Y9, Y3, Y3
	VPADDD    Y0, Y4, Y4
	VPADDD    Y1, Y5, Y5
	VPADDD    Y2, Y6, Y6
	VPADDD    Y3, Y7, Y7
	ADDQ      $32, SI
	ADDQ      $32, R9
	ADDQ      $64, BX
	SUBQ      $32, AX
	JNZ       twoPart

	VPADDD       Y4, Y5, Y4
	VPADDD       Y6, Y7, Y6
	VPHADDD      Y6, Y4, Y4
	VPHADDD      Y4, Y4, Y4
	VEXTRACTI128 $1, Y4, X5
	VPADDD       X4, X5, X4
	VMOVQ        X4, (DX)
	MOVQ         R9, SI
	ADDQ         $8, DX
	SUBQ         $2, CX
	CMPQ         CX, $2
	JGE          two

one:
	TESTQ CX, CX
	JZ    done
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5

onePart:
	VPMOVSXBW (SI), Y0
	VPMOVSXBW 16(SI), Y1
	VPMADDWD  (DI), Y0, Y0
	VPMADDWD  32(DI), Y1, Y1
	VPADDD    Y0, Y4, Y4
	VPADDD    Y1, Y5, Y5
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $32, R8
	JNZ       onePart

	VPADDD       Y4, Y5, Y4
	VPHADDD      Y4, Y4, Y4
	VPHADDD      Y4, Y4, Y4
	VEXTRACTI128 $1, Y4, X5
	VPADDD       X4, X5, X4
	VMOVD        X4, (DX)

done:
	VZEROUPPER
	RET
